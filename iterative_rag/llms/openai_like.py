"""OpenAI-compatible servers (vLLM, LM Studio, NVIDIA NIM, Groq, OpenAI) through LlamaIndex."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import LLMError, LLMServerError
from iterative_rag.llms.llama_index import LlamaIndexChat
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.remote import Line, api_key
from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from llama_index.core.base.llms.types import ChatMessage, ChatResponse

EXTRA_HINT = "pip install 'iterative-rag[openai-like]'"
# Statuses by which servers refuse a field that they do not know.
REFUSED = (400, 422)

_plain_servers: set[tuple[str, str]] = set()
_plain_lock = threading.Lock()


class OpenAILikeChat(LlamaIndexChat):
    """A model of an OpenAI-compatible server, with the key that `remote.api_key` finds for it.

    A server that refuses `response_format`, `stream_options` or `seed` is asked without them for the rest of the
    process: `replies` copes with what comes then.
    """

    def __init__(self, model: str, url: str, settings: Settings) -> None:
        import httpx

        try:
            from llama_index.llms.openai_like import OpenAILike
        except ImportError as error:
            raise LLMError("OpenAI-compatible servers need an extra package.", hint=EXTRA_HINT) from error
        self._settings = settings
        self._identity = (url, model)
        line = Line()
        client: dict[str, Any] = {"http_client": httpx.Client(**line.http_options(url))}
        try:
            llm = OpenAILike(
                model=model,
                api_base=url,
                api_key=api_key(url) or "none",
                is_chat_model=True,
                context_window=settings.context_window,
                temperature=0.0,
                max_retries=0,
                timeout=settings.timeout,
                **client,
            )
        except ValueError:  # names that OpenAI serves by another protocol only; not chained: it may show the key
            raise LLMError(f"The model {model!r} has no chat API.", hint="Choose a chat model.") from None
        name = f"openai-like/{model}@{url} seed={settings.seed}"
        super().__init__(llm, timeout=settings.timeout, retries=settings.retries, name=name, kind="openai-like")
        self._line = line

    def _once(self, request: ChatRequest) -> ChatReply:
        if self._is_plain():
            return self._attempt(request, self._plain_stream)
        try:
            return self._attempt(request, self._stream)
        except LLMServerError as error:
            if error.status not in REFUSED:
                raise
        reply = self._attempt(request, self._plain_stream)
        # Remembered only if it helped: a 400 may have had another cause.
        with _plain_lock:
            _plain_servers.add(self._identity)
        return reply

    def _stream(self, request: ChatRequest, messages: list[ChatMessage]) -> Iterator[ChatResponse]:
        options: dict[str, Any] = {"seed": self._settings.seed, "stream_options": {"include_usage": True}}
        if request.schema:
            form = {"name": request.role, "schema": dict(request.schema), "strict": True}
            options["response_format"] = {"type": "json_schema", "json_schema": form}
        return self._llm.stream_chat(messages, max_tokens=request.max_tokens, **options)

    def _plain_stream(self, request: ChatRequest, messages: list[ChatMessage]) -> Iterator[ChatResponse]:
        return self._llm.stream_chat(messages, max_tokens=request.max_tokens)

    def _is_plain(self) -> bool:
        with _plain_lock:
            return self._identity in _plain_servers
