"""Bounds what one client can have under way, and how often it can be wrong about the token."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iterative_rag.serve.guards.refusal import refuse

# Wrong tokens of one address within a minute; then it has to wait.
WRONG_TOKENS = 20
_MINUTE = 60.0
_MOST_CLIENTS = 10_000


class ClientLimits:
    """At most `at_once` requests of one address under way, streams of events included."""

    def __init__(self, app: ASGIApp, *, at_once: int) -> None:
        self._app, self._at_once = app, at_once
        self._going: Counter[str] = Counter()
        self._wrong: OrderedDict[str, deque[float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        client = client_of(scope)
        if self._going[client] >= self._at_once or self._locked_out(client):
            wait = {"retry-after": "60"} if self._locked_out(client) else {"retry-after": "1"}
            await refuse(scope, receive, send, 429, "TooMany", "Too many requests of this client.", headers=wait)
            return

        async def watched(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 401:
                self._note_wrong(client)
            await send(message)

        self._going[client] += 1
        try:
            await self._app(scope, receive, watched)
        finally:
            self._going[client] -= 1
            if not self._going[client]:
                del self._going[client]

    def _locked_out(self, client: str) -> bool:
        wrong = self._wrong.get(client)
        while wrong and wrong[0] < time.monotonic() - _MINUTE:
            wrong.popleft()
        return wrong is not None and len(wrong) >= WRONG_TOKENS

    def _note_wrong(self, client: str) -> None:
        self._wrong.setdefault(client, deque()).append(time.monotonic())
        self._wrong.move_to_end(client)
        while len(self._wrong) > _MOST_CLIENTS:
            self._wrong.popitem(last=False)


def client_of(scope: Scope) -> str:
    """The address of the client, "" where the server does not know it."""
    client = scope.get("client")
    return client[0] if client else ""
