"""Asks for the token of the server: as a bearer, or as the cookie that a browser has after it signed in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from iterative_rag.serve.guards.client_limits import WrongTokens, client_of
from iterative_rag.serve.guards.refusal import refuse

COOKIE = "iterative_rag_session"
LOGIN = "/login"


class ServerToken:
    """The token of a server, "" for none. Compared in constant time; a cookie holds a value derived from it."""

    def __init__(self, token: str) -> None:
        self._token = token.encode()
        self._lock = threading.Lock()
        self._one_time = secrets.token_urlsafe(24) if token else ""
        # A cookie is worthless after a restart, and does not reveal the token.
        key = secrets.token_bytes(32)
        self.cookie = hmac.new(key, self._token, hashlib.sha256).hexdigest() if token else ""

    @property
    def needed(self) -> bool:
        return bool(self._token)

    def matches(self, given: str) -> bool:
        """Whether this is the token."""
        return self.needed and hmac.compare_digest(self._token, given.encode("utf-8", "replace"))

    def signed_in(self, cookie: str) -> bool:
        """Whether this is the value of the cookie of a browser that signed in."""
        return self.needed and hmac.compare_digest(self.cookie.encode(), cookie.encode("utf-8", "replace"))

    @property
    def one_time_code(self) -> str:
        """What the link that is shown at the start ends with; "" once it was used."""
        return self._one_time

    def redeem(self, code: str) -> bool:
        """Whether this is the code of the link; it is good for one browser."""
        with self._lock:
            good = bool(self._one_time) and hmac.compare_digest(
                self._one_time.encode(), code.encode("utf-8", "replace")
            )
            if good:
                self._one_time = ""
            return good


class TokenGuard:
    """Lets requests with the token through, and those to `open_paths`. A browser that opens a page is led to the form
    that asks for the token."""

    def __init__(self, app: ASGIApp, *, token: ServerToken, open_paths: Collection[str]) -> None:
        self._app, self._token, self._open = app, token, frozenset(open_paths)
        self._wrong = WrongTokens()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._token.needed or scope["path"] in self._open:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        client = client_of(scope)
        if self._is_allowed(headers):
            await self._app(scope, receive, send)
        elif self._wrong.too_many(client):
            message = "Too many wrong tokens."
            await refuse(scope, receive, send, 429, "TooMany", message, headers={"retry-after": "60"})
        elif scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            await RedirectResponse(LOGIN, 303)(scope, receive, send)
        else:
            if "authorization" in headers or COOKIE in headers.get("cookie", ""):
                self._wrong.note(client)
            await refuse(
                scope,
                receive,
                send,
                401,
                "Unauthorized",
                "A token is needed.",
                hint="Send it as: Authorization: Bearer TOKEN",
                headers={"www-authenticate": 'Bearer realm="iterative-rag"'},
            )

    def _is_allowed(self, headers: Headers) -> bool:
        given = headers.getlist("authorization")
        if given:
            scheme, _, value = given[0].partition(" ")
            return len(given) == 1 and scheme.lower() == "bearer" and self._token.matches(value.strip())
        try:
            cookie = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
        except CookieError:
            return False
        return cookie is not None and self._token.signed_in(cookie.value)
