"""The token of a server, and who has sent wrong ones."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections import OrderedDict, deque

from starlette.types import Scope

COOKIE = "iterative_rag_session"
LOGIN = "/login"
# Wrong tokens of one address within a minute; then it has to wait.
WRONG_TOKENS = 20
_MINUTE = 60.0
_MOST_CLIENTS = 10_000


class ServerToken:
    """The token of a server, "" for none. Compared in constant time; a cookie holds a value derived from it."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        # A cookie is worthless after a restart, and does not reveal the token.
        key = secrets.token_bytes(32)
        self.cookie = hmac.new(key, self._token, hashlib.sha256).hexdigest() if token else ""

    @property
    def needed(self) -> bool:
        return bool(self._token)

    def matches(self, given: str) -> bool:
        """Whether this is the token."""
        return self.needed and _same(self._token, given)

    def signed_in(self, cookie: str) -> bool:
        """Whether this is the value of the cookie of a browser that signed in."""
        return self.needed and _same(self.cookie.encode(), cookie)


def _same(known: bytes, given: str) -> bool:
    return hmac.compare_digest(known, given.encode("utf-8", "replace"))


class WrongTokens:
    """Counts the wrong tokens of each address, so that none can be found by trying."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()

    def too_many(self, client: str) -> bool:
        """Whether this address has to wait."""
        times = self._times.get(client, ())
        return sum(at >= time.monotonic() - _MINUTE for at in times) >= WRONG_TOKENS

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
