"""Who may ask: whoever has the token of the server, and no page of another site; and the headers that keep a browser
from being used against it."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iterative_rag.serve.guards.limits import Guard, WrongTokens, client_of, refuse

COOKIE = "iterative_rag_session"
LOGIN = "/login"
# Of Sec-Fetch-Site: a page of this server, or a user who typed the address. "same-site" is another port of this host.
_OWN = ("same-origin", "none")
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
        "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # With "no-referrer" a browser says "Origin: null" for the forms of this server itself.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}


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


class TokenGuard(Guard):
    """Lets requests with the token through, and those to `open_paths`. A browser that opens a page is led to the form
    that asks for the token."""

    def __init__(self, app: ASGIApp, *, token: ServerToken, open_paths: Collection[str]) -> None:
        super().__init__(app)
        self._token, self._open = token, frozenset(open_paths)
        self._wrong = WrongTokens()

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._token.needed or scope["path"] in self._open:
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


class HostOriginGuard(Guard):
    """`names` are the host names under which the server may be reached, besides IP addresses and, on loopback,
    `localhost`. Only a name can be pointed at another machine (DNS rebinding), so any address will do."""

    def __init__(self, app: ASGIApp, *, names: Collection[str], loopback: bool) -> None:
        super().__init__(app)
        self._names = frozenset(name.lower().rstrip(".") for name in names) | {"localhost"}
        self._loopback = loopback

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._known(hosts[0]):
            await refuse(scope, receive, send, 421, "WrongHost", "This server is not reached by that name.")
        elif not _own_page(headers, hosts[0], scope):
            await refuse(scope, receive, send, 403, "CrossSite", "Requests from pages of other sites are refused.")
        else:
            await self._app(scope, receive, send)

    def _known(self, host: str) -> bool:
        name = host_name(host)
        if name is None:
            return False
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return address.is_loopback or not self._loopback


def host_name(host: str) -> str | None:
    """The name or address of a Host header without its port, in lower case; None where it is none."""
    match = _HOST.fullmatch(host)
    return (match["address"] or match["name"]).lower().rstrip(".") if match else None


def _own_page(headers: Headers, host: str, scope: Scope) -> bool:
    """Whether no page of another site can have sent the request."""
    site = headers.get("sec-fetch-site", "none")
    origins = headers.getlist("origin")
    if origins:
        return len(origins) == 1 and _same_origin(origins[0], host) and site in _OWN
    if site in _OWN:
        return True
    # A link from elsewhere may open a page; it may change and embed nothing.
    return (
        scope["method"] in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and (headers.get("sec-fetch-dest", "document") == "document")
    )


def _same_origin(origin: str, host: str) -> bool:
    """Behind a proxy that ends TLS the scheme differs, so host and port are compared."""
    parts = urlsplit(origin) if origin.isprintable() else None
    return parts is not None and parts.scheme in ("http", "https") and parts.netloc.lower() == host.lower()


class SecurityHeaders(Guard):
    """Adds them. Answers are kept by no cache unless a door says otherwise, as it does for its static files."""

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        await self._app(scope, receive, with_headers)


class BehindTls(Guard):
    """Every request counts as one over https, so that links to this server are such. The option says so and no header:
    X-Forwarded-Proto could come from anybody."""

    async def guard(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "scheme": "https"}, receive, send)
