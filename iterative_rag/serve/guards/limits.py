"""What one request, and one client, may cost: the head and the body of a request, requests under way, wrong tokens.
Each guard is an ASGI middleware that every request passes before a door sees it."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Of the request line and the headers. uvicorn bounds only a head of which the end has not come.
MOST_HEAD_BYTES = 32_768
MOST_HEADERS = 100
# A client that is cut off while it sends may never see why: so much more is read than is taken, in multiples of that.
_DRAINED = 4
# Wrong tokens of one address within a minute; then it has to wait.
WRONG_TOKENS = 20
_MINUTE = 60.0
_MOST_CLIENTS = 10_000


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    code: str,
    message: str,
    *,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer with an error in the form of the HTTP door, and close the connection: its body may not have been read."""
    error = {"code": code, "message": message, "hint": hint, "retryable": status in (408, 429, 503)}
    response = JSONResponse({"error": error}, status, {"connection": "close", **(headers or {})})
    await response(scope, receive, send)


class Guard:
    """A middleware: `guard` passes a request on to `self._app`, or refuses it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await (self.guard if scope["type"] == "http" else self._app)(scope, receive, send)

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        raise NotImplementedError


class HeadLimits(Guard):
    """Refuses a long address and many or long headers."""

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = scope["headers"]
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in headers)
        if size > MOST_HEAD_BYTES or len(headers) > MOST_HEADERS:
            await refuse(scope, receive, send, 431, "TooLarge", "The head of the request is too large.")
        else:
            await self._app(scope, receive, send)


class BodyLimits(Guard):
    """At most `most_bytes`, all of them within `seconds`."""

    def __init__(self, app: ASGIApp, *, most_bytes: int, seconds: float) -> None:
        super().__init__(app)
        self._most, self._seconds = most_bytes, seconds

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = Headers(scope=scope).get("content-length", "0")
        try:
            if not length.isdecimal() or int(length) > _DRAINED * self._most:
                raise _TooLarge
            async with asyncio.timeout(self._seconds):
                body = await self._body(receive)
        except _TooLarge:
            message = f"A request may have at most {self._most:,} bytes."
            await refuse(scope, receive, send, 413, "TooLarge", message)
            return
        except TimeoutError:
            await refuse(scope, receive, send, 408, "TooSlow", "The request did not arrive in time.")
            return
        if body is None:
            return  # the client has gone
        await self._app(scope, _replayed(body, receive), send)

    async def _body(self, receive: Receive) -> bytes | None:
        body, size = bytearray(), 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return None
            size += len(message.get("body", b""))
            if size <= self._most:
                body += message.get("body", b"")
            last = not message.get("more_body", False)
            if size > _DRAINED * self._most or (last and size > self._most):
                raise _TooLarge
            if last:
                return bytes(body)


class _TooLarge(Exception):
    pass


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one message, then what the server has to tell: that the client has gone."""
    told = False

    async def replay() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


class ClientLimits(Guard):
    """At most `at_once` requests of one address under way, streams of events included."""

    def __init__(self, app: ASGIApp, *, at_once: int) -> None:
        super().__init__(app)
        self._at_once = at_once
        self._going: Counter[str] = Counter()

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = client_of(scope)
        if self._going[client] >= self._at_once:
            message = f"A client may have {self._at_once} requests under way."
            await refuse(scope, receive, send, 429, "TooMany", message, headers={"retry-after": "1"})
            return
        self._going[client] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._going[client] -= 1
            if not self._going[client]:
                del self._going[client]


class WrongTokens:
    """Counts the wrong tokens of each address, so that none can be found by trying."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def too_many(self, client: str) -> bool:
        """Whether this address has to wait."""
        times = self._times.get(client)
        while times and times[0] < time.monotonic() - _MINUTE:
            times.popleft()
        return times is not None and len(times) >= WRONG_TOKENS

    def note(self, client: str) -> None:
        """This address has sent a wrong token."""
        self._times.setdefault(client, deque(maxlen=WRONG_TOKENS)).append(time.monotonic())
        self._times.move_to_end(client)
        while len(self._times) > _MOST_CLIENTS:
            self._times.popitem(last=False)


def client_of(scope: Scope) -> str:
    """The address of the client, "" where the server does not know it."""
    client = scope.get("client")
    return client[0] if client else ""
