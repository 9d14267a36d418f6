"""Ollama through LlamaIndex, with what that leaves out: options per call, a schema, errors that say what to do."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import ContextOverflow
from iterative_rag.llm.providers.llama_index import StreamedChat, as_tools, named_thinking
from iterative_rag.llm.providers.server_traits import Form, about_tokens, least_tokens
from iterative_rag.protocols import ChatRequest
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import is_loopback
from iterative_rag.remote.model_spec import Spec
from iterative_rag.remote.server_calls import Server, ollama_url
from iterative_rag.settings import Settings
from iterative_rag.system.files import json_value
from iterative_rag.system.threads import llama_index_import

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse
    from llama_index.llms.ollama import Ollama
    from ollama import Client

SUGGESTED_MODEL = "llama3.1:8b"
# Families and parts of names by which models that only embed are known.
EMBEDDING_FAMILIES = frozenset({"bert", "nomic-bert", "nomic-bert-moe", "xlm-roberta"})
EMBEDDING_NAMES = ("embed", "minilm", "bge-", "e5-")


class OllamaChat(StreamedChat):
    """A model of an Ollama server. Temperature 0, a seed, a pinned context; no thinking unless the settings want it.
    A model that cannot think refuses the field where it is on, and some break the form where it is off: then they are
    asked without."""

    def __init__(self, spec: Spec, settings: Settings) -> None:
        url = spec.url or ollama_url()
        self._variants: dict[tuple[int, bool | None], Ollama] = {}
        self._client: Client | None = None
        super().__init__(
            f"ollama/{spec.model} seed={settings.seed} ctx={settings.context_window}{named_thinking(settings)}",
            Server("ollama", url, spec.model),
            settings,
            thinking=({"think": settings.thinking == "on"}, {}),
            unthinking=settings.thinking != "on",
            form=Form(extras=False),
        )
        key = key_to_send(url, "ollama")
        # A function, so that no dump of the object's fields shows the key.
        self._http_options: Callable[[], dict[str, Any]] = lambda: self._call.http_options(url, key=key)

    @property
    def calls_at_once(self) -> int | None:
        """How many calls the server works on at the same time; None where that is not known. Ollama works on one,
        unless OLLAMA_NUM_PARALLEL says otherwise; what stands in our environment holds for a server of this machine."""
        if not is_loopback(self._server.url):
            return None
        configured = os.environ.get("OLLAMA_NUM_PARALLEL", "").strip()
        return max(1, int(configured)) if configured.isdecimal() else 1

    def preload(self) -> None:
        self._variant(self._settings.reply_tokens, self._thinking[self.form.thinking].get("think"))

    def _stream(self, request: ChatRequest, messages: list[ChatMessage], form: Form) -> Iterator[ChatResponse]:
        self._refuse_oversized(request)
        # A model that is held to a format cannot call functions.
        options: dict[str, Any] = {"tools": as_tools(request.functions)} if request.functions else {}
        if request.schema and form.json and not request.functions:
            options["format"] = dict(request.schema) if form.json == "json_schema" else "json"
        variant = self._variant(request.max_tokens, self._thinking[form.thinking].get("think"))
        stream: Iterator[ChatResponse] = variant.stream_chat(messages, **options)
        return stream

    def _variant(self, max_tokens: int, think: bool | None) -> Ollama:
        """LlamaIndex takes these options per object only: one object for each pair, all on one connection pool."""
        with self._lock, llama_index_import:
            if (max_tokens, think) not in self._variants:
                from llama_index.llms.ollama import Ollama
                from ollama import Client

                url = self._server.url
                self._client = self._client or Client(host=url, **self._http_options())
                self._variants[max_tokens, think] = Ollama(
                    model=self._server.model,
                    base_url=url,
                    client=self._client,
                    temperature=0.0,
                    context_window=self._settings.context_window,
                    request_timeout=self._settings.timeout,
                    thinking=think,
                    additional_kwargs={"seed": self._settings.seed, "num_predict": max_tokens},
                )
            return self._variants[max_tokens, think]

    def _refuse_oversized(self, request: ChatRequest) -> None:
        """Ollama drops the beginning of a prompt that is too long without a word: say it instead."""
        text, room = request.system + request.user, self._settings.context_window
        needed = max(about_tokens(text), least_tokens(text)) + request.max_tokens
        if needed > room:
            told = f"A prompt ({request.role}) needs about {needed:,} tokens; the model has room for {room:,}."
            raise ContextOverflow(told, status=-1, hint="Raise context_window, or lower window_chars or fact_limit.")


@dataclass(frozen=True, slots=True)
class OllamaState:
    """What an Ollama server said when it was asked. `problem` is "" when it answered."""

    url: str
    reachable: bool
    models: tuple[str, ...] = ()
    chat_models: tuple[str, ...] = ()
    problem: str = ""


def probe(url: str = "", *, seconds: float = 2.0) -> OllamaState:
    """Is Ollama there, and which models does it have? The one used last comes first. Never raises for a server."""
    import httpx

    from iterative_rag.remote.bounded_body import hooks

    url = url or ollama_url()
    try:
        with httpx.Client(timeout=seconds, trust_env=not is_loopback(url), event_hooks=hooks(seconds)) as client:
            reply = client.get(f"{url}/api/tags").raise_for_status()
        models = json_value(reply.content)["models"]
        embeds = {str(entry["name"]): _only_embeds(entry) for entry in models if entry.get("name")}
    except httpx.HTTPError as error:
        return OllamaState(url, False, problem=f"{type(error).__name__}: {error}")
    except (ValueError, KeyError, TypeError, AttributeError):
        return OllamaState(url, False, problem="what answers there is not Ollama")
    return OllamaState(url, True, tuple(embeds), tuple(name for name, only in embeds.items() if not only))


def _only_embeds(entry: dict[str, Any]) -> bool:
    family = (entry.get("details") or {}).get("family")
    return family in EMBEDDING_FAMILIES or any(part in str(entry["name"]).casefold() for part in EMBEDDING_NAMES)
