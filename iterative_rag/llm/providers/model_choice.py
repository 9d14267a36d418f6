"""From a spec, a LlamaIndex object or a model of the caller's own to a ChatModel."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import ChatModel
from iterative_rag.registry import LLMS
from iterative_rag.remote.model_spec import Spec, parse_spec
from iterative_rag.settings import Settings


def chat_model(wanted: object, settings: Settings) -> tuple[ChatModel | None, str]:
    """The model of a spec (as text or parsed) or an object, and one line about the choice if `auto` made it, else "".

    None means the built-in backend. Raises UsageError for what is not a model, LLMError where a package is missing.
    """
    if not isinstance(wanted, str | Spec):
        return _from_object(wanted, settings), ""
    spec, notice = chosen(wanted) if isinstance(wanted, str) else (wanted, "")
    if spec.kind == "builtin":
        return None, notice
    build: Callable[[Spec, Settings], ChatModel] = LLMS.load(spec.kind)
    return build(spec, settings), notice


def chosen(wanted: str) -> tuple[Spec, str]:
    """The spec that a text names, and one line about the choice where `auto` made it. Raises UsageError."""
    spec = parse_spec(wanted, LLMS)
    return _chosen_automatically() if spec.kind == "auto" else (spec, "")


def _chosen_automatically() -> tuple[Spec, str]:
    """Ollama if it answers and has a chat model, else the built-in backend."""
    from iterative_rag.llm.providers.ollama import SUGGESTED_MODEL, probe

    state = probe()
    if state.chat_models:
        model = state.chat_models[0]
        return Spec("ollama", model, state.url), f"Using ollama/{model} (choose with --llm)."
    if state.reachable:
        return Spec("builtin"), (
            f"Ollama has no chat model: using the built-in reader. Better answers: ollama pull {SUGGESTED_MODEL}"
        )
    return Spec("builtin"), (
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
