"""From a spec, a LlamaIndex object or a model of our own to a ChatModel."""

from __future__ import annotations

from typing import cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import ChatModel
from iterative_rag.remote.server_calls import parse_spec
from iterative_rag.settings import Settings


def chat_model(wanted: object, settings: Settings) -> tuple[ChatModel | None, str]:
    """The model and one line about the choice that `auto` made ("" where there was none).

    None stands for the built-in reader. Raises UsageError for what is no model, LLMError where a package is missing.
    """
    if not isinstance(wanted, str):
        return _from_object(wanted, settings), ""
    spec = parse_spec(wanted)
    if spec.kind == "builtin":
        return None, ""
    if spec.kind == "auto":
        return _auto(settings)
    if spec.kind == "ollama":
        from iterative_rag.llm.providers.ollama import OllamaChat

        return OllamaChat(spec.model, settings), ""
    from iterative_rag.llm.providers.openai_like import OpenAILikeChat

    return OpenAILikeChat(spec.model, spec.url, settings), ""


def _auto(settings: Settings) -> tuple[ChatModel | None, str]:
    from iterative_rag.llm.providers.ollama import SUGGESTED_MODEL, OllamaChat, probe

    state = probe()
    if state.chat_models:
        model = state.chat_models[0]
        return OllamaChat(model, settings, url=state.url), f"Using ollama/{model} (choose with --llm)."
    if state.reachable:
        return (
            None,
            f"Ollama has no chat model: using the built-in reader. Better answers: ollama pull {SUGGESTED_MODEL}",
        )
    return None, (
        "No Ollama found: using the built-in reader. Better answers: install Ollama (https://ollama.com), "
        f"then ollama pull {SUGGESTED_MODEL}"
    )


def _from_object(wanted: object, settings: Settings) -> ChatModel:
    if callable(getattr(wanted, "stream_chat", None)) and callable(getattr(wanted, "class_name", None)):
        from llama_index.core.llms.llm import LLM

        from iterative_rag.llm.providers.llama_index import LlamaIndexChat

        return LlamaIndexChat(cast(LLM, wanted), timeout=settings.timeout, retries=settings.retries)
    if callable(getattr(wanted, "complete", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(ChatModel, wanted)
    raise UsageError(
        f"A {type(wanted).__name__} is not a language model.",
        hint="Pass a spec such as 'ollama/llama3.1:8b', a LlamaIndex LLM, or a ChatModel.",
    )
