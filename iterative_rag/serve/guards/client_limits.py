"""Bounds what one client can have under way, and how often it can be wrong about the token."""

from __future__ import annotations

import time
from collections import Counter, OrderedDict, deque

from starlette.types import ASGIApp, Receive, Scope, Send

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

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
