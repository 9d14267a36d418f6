"""What all servers of models have in common: addresses, timeouts, retries, and errors that say what to do.

Chat models and embedders stand on it; it knows HTTP and no library above it.
"""

from __future__ import annotations

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from iterative_rag.errors import (
    LLMError,
    LLMServerError,
    LLMTimeout,
    LLMUnreachable,
    ModelMissing,
    ReplyTruncated,
    UsageError,
)
from iterative_rag.remote.api_keys import hint_for, known_values
from iterative_rag.remote.disclosure import TEXTS, signing
from iterative_rag.remote.hosts import is_loopback

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

OLLAMA_PORT = 11434
# Times that a call which may go through later is made again, and the first pause before that, in seconds.
RETRIES = 2
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 4.0
CONNECT_SECONDS = 10.0
UNBOUNDED_SECONDS = 120.0  # of a call that nobody gave a limit

# --- addresses ---------------------------------------------------------------------------------


def ollama_url() -> str:
    """Where Ollama listens: OLLAMA_HOST with or without scheme and port, else the local default."""
    host = os.environ.get("OLLAMA_HOST", "").strip().rstrip("/")
    scheme, marker, rest = host.partition("://")
    if not marker:
        scheme, rest = "http", host
    elif scheme not in ("http", "https"):
        raise UsageError("OLLAMA_HOST is not an http address.", hint="For example: 127.0.0.1:11434")
    default_port = {"http": 80, "https": 443}[scheme] if marker else OLLAMA_PORT
    if rest.count(":") > 1 and "[" not in rest:  # a bare IPv6 address
        rest = f"[{rest}]"
    try:
        parts = urlsplit(f"{scheme}://{rest}")
        name, port = parts.hostname or "127.0.0.1", parts.port or default_port
    except ValueError as error:
        raise UsageError("OLLAMA_HOST is not an address.", hint="For example: 127.0.0.1:11434") from error
    # A server listens on "all addresses"; a client cannot call them.
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name, name)
    return urlunsplit((scheme, f"[{name}]:{port}" if ":" in name else f"{name}:{port}", parts.path, "", ""))


def without_secrets(text: str) -> str:
    """`text` with every key that there is struck out, and in one line."""
    for value in known_values():
        text = text.replace(value, "[key]")
    return " ".join(text.split())


# --- one call ----------------------------------------------------------------------------------


class Line(threading.local):
    """When a thread's current call must have ended, and what the server said about calling again.

    A point in time and no duration: what is imported or waited for before the request leaves counts, too.
    """

    ends: float | None = None  # of time.monotonic(); None: UNBOUNDED_SECONDS after it began
    retry_after: float | None = None

    def deadline(self) -> float:
        return time.monotonic() + UNBOUNDED_SECONDS if self.ends is None else self.ends

    def http_options(self, url: str, *, key: str = "", what: str = TEXTS, own_headers: bool = False) -> dict[str, Any]:
        """Options of an httpx.Client whose calls obey this line and send `key`, and what `what` names, to `url` alone.

        Proxies are left out for loopback. Redirects are not followed: they would take the text to another host.
        """
        return {
            "trust_env": not is_loopback(url),
            "limits": connection_limits(),
            "follow_redirects": False,
            "event_hooks": {
                "request": [signing(url, key, what, own_headers=own_headers), self._limit],
                "response": [self._listen],
            },
        }

    def _limit(self, request: httpx.Request) -> None:
        left = max(0.001, self.deadline() - time.monotonic())
        request.extensions["timeout"] = {
            "connect": min(left, CONNECT_SECONDS),
            "read": left,
            "write": left,
            "pool": left,
        }

    def _listen(self, response: httpx.Response) -> None:
        value = response.headers.get("retry-after", "")
        self.retry_after = float(value) if re.fullmatch(r"\d+(\.\d+)?", value) else None
        import httpx

        from iterative_rag.remote.bounded_body import BoundedBody

        if isinstance(response.stream, httpx.SyncByteStream):
            response.stream = BoundedBody(response.stream, self.deadline())


def connection_limits() -> httpx.Limits:
    """None: whoever calls bounds the calls in flight, and each gets a connection. httpx alone would let 100 through."""
    import httpx

    return httpx.Limits(max_connections=None, max_keepalive_connections=None)


def persistently(attempt: Callable[[], T], seconds: float, line: Line, retries: int = RETRIES) -> T:
    """Make a call, and up to `retries` more if its LLMError is retryable, all within `seconds`."""
    deadline = time.monotonic() + seconds
    for turn in range(retries + 1):
        line.ends, line.retry_after = deadline, None
        try:
            return attempt()
        except LLMError as error:
            pause = line.retry_after
            if pause is None:
                pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2**turn) * random.uniform(0.5, 1.5)
            # Where nobody listens, half of them: whoever forgot to start the server wants to hear it.
            most = retries // 2 if error.fatal else retries
            if not error.retryable or turn == most or time.monotonic() + pause >= deadline:
                raise
        time.sleep(pause)
    raise AssertionError("unreachable")


# --- errors ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Server:
    """Who is called, for error messages: "ollama", "openai-like" or the name of a LlamaIndex class."""

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


def translated(error: Exception, server: Server, *, begun: bool) -> LLMError:
    """The error of a client library as one of ours. `begun` says that a part of the reply had arrived."""
    import httpx

    chain = list(_chain(error))
    # httpx keeps the status in the response of its error, the libraries above it in the error.
    status = getattr(error, "status_code", None) or getattr(getattr(error, "response", None), "status_code", None)
    text = without_secrets(str(getattr(error, "error", "") or error))[:300].rstrip(".")
    if isinstance(status, int) and status >= 300:
        return _refused(status, text, server)
    if _among(chain, httpx.TimeoutException) and not _among(chain, httpx.ConnectTimeout):
        return LLMTimeout(f"{server} gave no reply in time.", hint="Raise the timeout, or use a smaller model.")
    if _among(chain, httpx.ConnectError, httpx.ConnectTimeout, ConnectionError):
        return LLMUnreachable(f"{server} cannot be reached.", hint=server.start_hint)
    if _among(chain, httpx.TransportError, json.JSONDecodeError, UnicodeDecodeError):
        if begun:
            return truncated(server)
        broken = LLMUnreachable(f"{server} broke off before it replied.", hint=server.start_hint)
        broken.fatal = False  # somebody was there: the next call may go through
        return broken
    if status == -1 or type(error).__name__ == "APIError":
        return LLMServerError(f"{server} broke off its reply: {text}.", status=-1, hint="Look into the server's log.")
    return LLMError(f"{server} failed: {type(error).__name__}: {text}.")


def truncated(server: Server) -> ReplyTruncated:
    return ReplyTruncated(f"The reply of {server.model} ended before it was done.", hint="Look into the server's log.")


def _refused(status: int, text: str, server: Server) -> LLMError:
    missing = status == 404 and (server.kind == "ollama" or "model" in text.casefold())
    if missing or re.search(r"model\b.*\b(not found|does not exist)", text, re.IGNORECASE):
        hint = f"ollama pull {server.model}" if server.kind == "ollama" else f"See which it has: {server.url}/models"
        return ModelMissing(f"{server} has no model {server.model!r}.", hint=hint)
    if status < 400:
        return LLMServerError(
            f"{server} answers with a redirect to another address ({status}), which is not followed.",
            status=status,
            hint="Name the address itself in the model spec or in OLLAMA_HOST.",
        )
    keyless = hint_for(server.url, server.kind) if server.url else ""
    hints = {
        401: keyless,
        403: keyless,
        404: "The URL of an OpenAI-compatible server mostly ends in /v1.",
        429: "Wait, or lower calls_in_flight.",
    }
    hint = hints.get(status, "Look into the server's log." if status >= 500 else "")
    return LLMServerError(f"{server} answered {status}: {text}.", status=status, hint=hint)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what caused it."""
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)


def _among(chain: list[BaseException], *kinds: type[BaseException]) -> bool:
    return any(isinstance(error, kinds) for error in chain)
