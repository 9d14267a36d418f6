"""Any LlamaIndex LLM object as a ChatModel."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback
from llama_index.llms.ollama import Ollama

from fakes.model_server import FakeServer, Fault
from iterative_rag.errors import LLMError, ModelMissing, ReplyTruncated
from iterative_rag.llm.providers.llama_index import LlamaIndexChat
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import Settings

REQUEST = ChatRequest("answer", "system words", "user words")


class Parrot(CustomLLM):
    """Writes what it is told to, in two parts; `fails` is raised instead."""

    text: str = "a reply"
    temperature: float = 0.3
    fails: Any = None
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="parrot-1", is_chat_model=False)

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=self.text)

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        self.prompts.append(prompt)

        def parts() -> CompletionResponseGen:
            if self.fails:
                raise self.fails
            half = len(self.text) // 2
            yield CompletionResponse(text=self.text[:half], delta=self.text[:half])
            yield CompletionResponse(text=self.text, delta=self.text[half:])

        return parts()


def test_an_object_of_any_class_replies() -> None:
    parrot = Parrot(text='{"status": "known"}')
    model, _ = chat_model(parrot, Settings())
    assert model is not None
    assert model.complete(REQUEST).text == '{"status": "known"}'
    assert "system words" in parrot.prompts[0]
    assert "user words" in parrot.prompts[0]
    assert model.name == "custom_llm/parrot-1 temperature=0.3"


def test_whatever_it_raises_becomes_an_llm_error() -> None:
    model = LlamaIndexChat(Parrot(fails=RuntimeError("weights on fire")), Settings())
    with pytest.raises(LLMError, match="weights on fire"):
        model.complete(REQUEST)


class Mute(Parrot):
    """Cannot stream."""

    def stream_chat(self, messages: Any, **kwargs: Any) -> Any:
        raise NotImplementedError


def test_an_object_that_cannot_stream_replies_too() -> None:
    assert LlamaIndexChat(Mute(text="whole"), Settings()).complete(REQUEST).text == "whole"


def test_an_ollama_object_keeps_its_options_and_gains_the_checks(server: FakeServer) -> None:
    llm = Ollama(model="tiny:8b", base_url=server.url, context_window=2048, additional_kwargs={"top_k": 3})
    model = LlamaIndexChat(llm, Settings())
    assert model.complete(REQUEST).completion_tokens == 7
    assert server.seen[0].body["options"] == {"temperature": None, "num_ctx": 2048, "top_k": 3}
    server.always = Fault("cut")
    with pytest.raises(ReplyTruncated):
        model.complete(REQUEST)
    server.always, server.models = None, ()
    with pytest.raises(ModelMissing):
        model.complete(REQUEST)
