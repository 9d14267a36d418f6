"""Calls to model servers: addresses, deadlines, retries, and errors with a hint.

Chat models, embedders and search engines use it; it knows HTTP and no client library.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from iterative_rag.errors import (
    ContextOverflow,
    LLMError,
    LLMServerError,
    LLMTimeout,
    LLMUnreachable,
    ModelMissing,
    ReplyTruncated,
    UsageError,
)
from iterative_rag.remote.api_keys import hint_for, known_values
from iterative_rag.remote.hosts import TEXTS, is_loopback, signer

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

OLLAMA_PORT = 11434
# Further attempts after a retryable error, and the first pause before one, in seconds.
RETRIES = 2
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 4.0
CONNECT_SECONDS = 10.0
DEFAULT_SECONDS = 120.0  # of a call without a limit
ACCEPTED = 202  # NVIDIA's gateway, while a model is being started

# --- addresses ---------------------------------------------------------------------------------


def ollama_url() -> str:
    """Where Ollama listens: OLLAMA_HOST with or without scheme and port, else the local default."""
    scheme, _, rest = os.environ.get("OLLAMA_HOST", "").strip().rstrip("/").rpartition("://")
    if rest.count(":") > 1 and "[" not in rest:  # a bare IPv6 address
        rest = f"[{rest}]"
    try:
        default_port = {"": OLLAMA_PORT, "http": 80, "https": 443}[scheme]
        parts = urlsplit(f"{scheme or 'http'}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port or default_port
    except (KeyError, ValueError) as error:
        raise UsageError("OLLAMA_HOST is not an http address.", hint="For example: 127.0.0.1:11434") from error
    # A server listens on "all addresses"; a client cannot call them.
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)
    return urlunsplit((parts.scheme, f"[{name}]:{port}" if ":" in name else f"{name}:{port}", parts.path, "", ""))


def without_secrets(text: str) -> str:
    """`text` on one line, with all keys removed."""
    for value in known_values():
        text = text.replace(value, "[key]")
    return " ".join(text.split())


# --- one call ----------------------------------------------------------------------------------


class CallState(threading.local):
    """The deadline of the current call of a thread, and the pause in seconds that the server asked for.

    A point in time, not a duration, so that imports and waiting before the request count as well.
    """

    ends: float | None = None  # of time.monotonic(); None: DEFAULT_SECONDS after it began
    retry_after: float | None = None
    status: int = 0  # of the last response

    def deadline(self) -> float:
        return time.monotonic() + DEFAULT_SECONDS if self.ends is None else self.ends

    def http_options(self, url: str, *, key: str = "", what: str = TEXTS, own_headers: bool = False) -> dict[str, Any]:
        """Options of an httpx.Client whose calls keep the deadline and send `key` and `what` to `url` alone.

        No proxy is used for loopback. Redirects are not followed: they could send the text to another host.
        """
        import httpx

        return {
            "trust_env": not is_loopback(url),
            "limits": httpx.Limits(),  # none, because the callers bound the calls in flight; httpx would allow 100
            "follow_redirects": False,
            "event_hooks": {
                "request": [signer(url, key, what, own_headers=own_headers), self._limit],
                "response": [self._listen],
            },
        }

    def _limit(self, request: httpx.Request) -> None:
        import httpx

        from iterative_rag.remote.bounded_body import ENCODING

        request.headers["Accept-Encoding"] = ENCODING
        left = max(0.001, self.deadline() - time.monotonic())
        request.extensions["timeout"] = httpx.Timeout(left, connect=min(left, CONNECT_SECONDS)).as_dict()

    def _listen(self, response: httpx.Response) -> None:
        self.status = response.status_code
        self.retry_after = pause_asked_for(response.headers)
        from iterative_rag.remote.bounded_body import bound

        bound(response, self.deadline())


def pause_asked_for(headers: Mapping[str, str]) -> float | None:
    """The pause that `Retry-After` asks for, in seconds or as a date; None where it says neither."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = re.fullmatch(r"\d+(\.\d+)?", value)
        return float(value) if seconds else max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def with_retries(attempt: Callable[[], T], seconds: float, call: CallState, retries: int = RETRIES) -> T:
    """Call `attempt`, and up to `retries` more times after a retryable LLMError, all within `seconds`."""
    deadline = time.monotonic() + seconds
    for turn in range(retries + 1):
        call.ends, call.retry_after, call.status = deadline, None, 0
        try:
            return attempt()
        except LLMError as error:
            pause = call.retry_after
            if pause is None:
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**turn) * random.uniform(0.5, 1.5)
            # Half of them if nothing listens: a user who forgot to start the server should not wait.
            last = min(retries // 2 if error.fatal else retries, error.most_retries or retries)
            if not error.retryable or turn == last or time.monotonic() + pause >= deadline:
                raise
        time.sleep(pause)
    raise AssertionError("unreachable")


# --- errors ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Server:
    """The called server, for error messages. `kind` is "ollama", "openai-like" or the name of a LlamaIndex class."""

    kind: str
    url: str
    model: str

    def __str__(self) -> str:
        name = {"ollama": "Ollama", "openai-like": "The server"}.get(self.kind, self.kind)
        return f"{name} at {self.url}" if self.url else name

    @property
    def start_hint(self) -> str:
        if self.kind == "ollama":
            return "Start it: ollama serve (or set OLLAMA_HOST to where it runs)."
        return "Start the server, or correct the URL of the model spec."


def as_llm_error(error: Exception, server: Server, *, begun: bool) -> LLMError:
    """The error of a client library as an LLMError. `begun`: part of the reply had arrived."""
    import httpx

    from iterative_rag.remote.bounded_body import TooLarge

    chain = list(_chain(error))
    # httpx keeps the status in the response of its error, the libraries above it in the error.
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    text = without_secrets(str(getattr(error, "error", "") or error))[:300].rstrip(".")
    if isinstance(status, int) and status >= 300:
        return refused(status, text, server)
    if unread := next((cause for cause in chain if isinstance(cause, TooLarge | httpx.DecodingError)), None):
        return unusable(f"{server} sent a reply that is not read: {unread}.", "See the server's log.")
    if _among(chain, httpx.TimeoutException) and not _among(chain, httpx.ConnectTimeout):
        return LLMTimeout(f"{server} gave no reply in time.", hint="Raise the timeout, or use a smaller model.")
    if _among(chain, httpx.ConnectError, httpx.ConnectTimeout, ConnectionError):
        return LLMUnreachable(f"{server} cannot be reached.", hint=server.start_hint)
    if _among(chain, httpx.TransportError, json.JSONDecodeError, UnicodeDecodeError):
        if begun:
            return truncated_reply(server)
        broken = LLMUnreachable(f"{server} broke off before it replied.", hint="See the server's log.")
        broken.fatal = False  # the server is there: the next call may succeed
        return broken
    if status == -1 or type(error).__name__ == "APIError" or _OVERFLOW.search(text):
        return refused(-1, text, server)
    return LLMError(f"{server} failed: {type(error).__name__}: {text}.")


# How OpenAI, vLLM, llama.cpp, LM Studio and Groq say that a request does not fit.
_OVERFLOW = re.compile(
    r"context[ _](?:length|size|window)|exceed_context_size|request too large|when context the overflows", re.IGNORECASE
)


def truncated_reply(server: Server) -> ReplyTruncated:
    return ReplyTruncated(f"The reply of {server.model} ended before it was done.", hint="See the server's log.")


def unusable(message: str, hint: str, *, retryable: bool = False) -> LLMServerError:
    """A reply came, and is none; `retryable`: the next one may be."""
    error = LLMServerError(message, status=-1, hint=hint)
    error.retryable, error.most_retries = retryable, 2
    return error


def pending(server: Server) -> LLMServerError:
    """The server accepted the call and sent no reply: it is still starting the model."""
    told = f"{server} has not started {server.model} yet ({ACCEPTED})."
    error = LLMServerError(told, status=ACCEPTED, hint="Try again in a minute.")
    error.retryable = True
    return error


def refused(status: int, text: str, server: Server) -> LLMError:
    """The error that a server told of with an HTTP status, or with a code of that kind in a reply (-1: without)."""
    if status in (-1, 400, 413, 422, 500) and _OVERFLOW.search(text):
        hint = "Start the server with a longer context, or lower window_chars, documents_per_call or reply_tokens."
        told = f"The request is longer than the context of {server.model}: {text}."
        return ContextOverflow(told, status=status, hint=hint)
    missing = status == 404 and (server.kind == "ollama" or "model" in text.casefold())
    if missing or re.search(r"model\b.*\b(not found|does not exist)", text, re.IGNORECASE):
        named = f"See {server.url}/models for the models that it has."
        hint = f"ollama pull {server.model}" if server.kind == "ollama" else named
        return ModelMissing(f"{server} has no model {server.model!r}.", hint=hint)
    if status < 0:
        return LLMServerError(f"{server} broke off its reply: {text}.", status=-1, hint="See the server's log.")
    if status < 400:
        told = f"{server} answers with a redirect to another address ({status}), which is not followed."
        return LLMServerError(told, status=status, hint="Give that address in the model spec or in OLLAMA_HOST.")
    keyless = hint_for(server.url, server.kind) if server.url else ""
    hints = {
        401: keyless,
        402: "The account has no credit left for this model; see its page at the provider.",
        403: keyless,
        404: "The URL of an OpenAI-compatible server usually ends in /v1.",
        429: "Wait, or lower calls_in_flight.",
        503: "The server may still be loading the model; wait, and see its log.",
    }
    hint = hints.get(status, "See the server's log." if status >= 500 else "")
    return LLMServerError(f"{server} answered {status}: {text}.", status=status, hint=hint)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and its causes."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def _among(chain: list[BaseException], *kinds: type[BaseException]) -> bool:
    return any(isinstance(error, kinds) for error in chain)
