"""An embedding object and an LLM object of LlamaIndex that need no model, and a scripted LLM, for the two articles."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.llms import CompletionResponse, CompletionResponseGen, CustomLLM, LLMMetadata
from llama_index.core.llms.callbacks import llm_completion_callback

from fakes import two_article_corpus
from fakes.hashing_embedder import HashingEmbedder
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.llm.prompts import prompt as prompt_of
from iterative_rag.protocols import ChatRequest

ROLES = ("analyse", "extract", "rephrase", "rephrase_and_analyse", "answer")


class WordEmbedding(BaseEmbedding):
    """Texts that share words are near each other."""

    dimensions: int = 64

    @classmethod
    def class_name(cls) -> str:
        return "WordEmbedding"

    @cached_property
    def _hashing(self) -> HashingEmbedder:
        return HashingEmbedder(self.dimensions)

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = self._hashing.embed_query(text).tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def word_embedding(dimensions: int = 64, name: str = "words") -> WordEmbedding:
    return WordEmbedding(model_name=name, dimensions=dimensions)


def two_article_llm(**roles: Any) -> ScriptedLLM:
    """Plays every role for the two articles, by what stands in its prompts; `roles` play theirs otherwise."""

    def reply(request: ChatRequest) -> str:
        assert request.schema is not None
        return two_article_corpus.play(request.schema, request.user)

    return ScriptedLLM({**dict.fromkeys(ROLES, reply), **roles})


# What a reply of a role consists of, by which `two_article_corpus.play` tells the roles apart.
_FIELDS = {"analyse": "needs", "extract": "facts", "rephrase": "", "rephrase_and_analyse": "needs", "answer": "working"}
_TOOL = 'Thought: I have to look it up.\nAction: ask_corpus\nAction Input: {"question": "%s"}'


class ArticleLLM(CustomLLM):
    """An LLM object that plays every role for the two articles, LlamaIndex's own synthesizer, and a ReAct agent with
    the tool `ask_corpus`. It knows what stands in its prompt, and no more."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="articles")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=_said(prompt))

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        text = _said(prompt)
        yield CompletionResponse(text=text, delta=text)


def _said(prompt: str) -> str:
    for role, field in _FIELDS.items():
        if prompt_of(role).system.partition("\n")[0] in prompt:
            return two_article_corpus.play({"properties": {field: {}}}, prompt)
    known = "Its mayor is Edda Holm." in prompt
    if "Action Input" in prompt:  # a ReAct agent
        return "Thought: I can answer.\nAnswer: Edda Holm" if known else _TOOL % two_article_corpus.QUESTION
    return "Edda Holm" if known else "The context does not say."
