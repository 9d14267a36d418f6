"""From a spec, a LlamaIndex object or a model of the caller's own to a ChatModel, and how large it is."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import cast

from iterative_rag.errors import UsageError
from iterative_rag.protocols import ChatModel
from iterative_rag.registry import LLMS
from iterative_rag.remote.hosts import is_loopback, is_private
from iterative_rag.remote.model_spec import Spec, parse_spec
from iterative_rag.settings import Settings
from iterative_rag.system.files import json_value
from iterative_rag.text.patterns import lazy_pattern


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
    if spec.kind != "auto":
        return spec, ""
    # Ollama if it answers and has a chat model, else the built-in backend.
    from iterative_rag.llm.providers.ollama import SUGGESTED_MODEL, probe

    state = probe()
    if state.chat_models:
        model = state.chat_models[0]
        return Spec("ollama", model, state.url), f"Using ollama/{model} (choose with --llm)."
    found, install = "Ollama has no chat model", ""
    if not state.reachable:
        found, install = "No Ollama found", "install Ollama (https://ollama.com), then "
    told = f"{found}: using the built-in reader. Better answers: {install}ollama pull {SUGGESTED_MODEL}"
    return Spec("builtin"), told


def _from_object(wanted: object, settings: Settings) -> ChatModel:
    if callable(getattr(wanted, "stream_chat", None)) and callable(getattr(wanted, "class_name", None)):
        from llama_index.core.llms.llm import LLM

        from iterative_rag.llm.providers.llama_index import LlamaIndexChat

        return LlamaIndexChat(cast(LLM, wanted), settings)
    if callable(getattr(wanted, "complete", None)) and isinstance(getattr(wanted, "name", None), str):
        return cast(ChatModel, wanted)
    hint = "Pass a spec such as 'ollama/llama3.1:8b', a LlamaIndex LLM, or a ChatModel."
    raise UsageError(f"A {type(wanted).__name__} is not a language model.", hint=hint)


# Models below so many billion parameters are small; from the other on, they read better than the built-in reader.
SMALL, LARGE = 4.0, 14.0
_SIZE = lazy_pattern(r"(?<![\w.])(?:(\d+(?:\.\d+)?)b|(\d{3})m)(?![a-z])", re.IGNORECASE)
_SECONDS = 2.0


def billions(name: str, spec: Spec | None = None) -> float | None:
    """The billions of parameters that the name of a model tells, else the server of its spec; None where neither does:
    a server that cannot be asked leaves it open. Companies do not tell, so only Ollama and local servers are asked."""
    if told := _SIZE.search(spec.model if spec else name):
        return float(told[1]) if told[1] else float(told[2]) / 1000
    nearby = spec is not None and (is_loopback(spec.url) or is_private(spec.url))
    if spec is None or not (spec.kind == "ollama" or (spec.kind == "openai-like" and nearby)):
        return None
    import httpx

    from iterative_rag.remote.bounded_body import hooks
    from iterative_rag.remote.server_calls import ollama_url

    url = spec.url or ollama_url()
    try:
        with httpx.Client(timeout=_SECONDS, trust_env=not is_loopback(url), event_hooks=hooks(_SECONDS)) as client:
            if spec.kind == "ollama":
                info = json_value(client.post(f"{url}/api/show", json={"model": spec.model}).raise_for_status().content)
                if count := info.get("model_info", {}).get("general.parameter_count"):
                    return float(count) / 1e9
                size = str(info["details"]["parameter_size"])  # 7.6B, 494.03M
                return float(size[:-1]) * {"B": 1.0, "M": 1e-3}[size[-1]]
            listed = json_value(client.get(f"{url}/models").raise_for_status().content)["data"]
            named = [entry for entry in listed if entry["id"] == spec.model] or listed
            return float(named[0]["meta"]["n_params"]) / 1e9
    except (httpx.HTTPError, ValueError, LookupError, TypeError, AttributeError):
        return None
