"""Bounds the head of a request, and reads its body before a door sees it: within a size, and within a time."""

from __future__ import annotations

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iterative_rag.serve.guards.refusal import refuse

# Of the request line and the headers. uvicorn bounds only a head of which the end has not come.
MOST_HEAD_BYTES = 32_768
MOST_HEADERS = 100
# A client that is cut off while it sends may never see why: so much more is read than is taken, in multiples of that.
_DRAINED = 4


class HeadLimits:
    """Refuses a long address and many or long headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = scope["headers"]
            size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
            size += sum(len(name) + len(value) for name, value in headers)
            if size > MOST_HEAD_BYTES or len(headers) > MOST_HEADERS:
                await refuse(scope, receive, send, 431, "TooLarge", "The head of the request is too large.")
                return
        await self._app(scope, receive, send)


class BodyLimits:
    """At most `most_bytes`, all of them within `seconds`."""

    def __init__(self, app: ASGIApp, *, most_bytes: int, seconds: float) -> None:
        self._app, self._most, self._seconds = app, most_bytes, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
