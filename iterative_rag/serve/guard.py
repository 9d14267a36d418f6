"""What every request passes before a door sees it. Let in is whoever has the token, and no page of another site; a
request is bounded in its size and time, and a client in its requests under way."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import re
import secrets
import time
from collections import Counter, OrderedDict, deque
from collections.abc import Collection
from contextlib import suppress

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from iterative_rag.serve.serve_options import ServeOptions

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


# Of the request line and the headers. uvicorn bounds only a head of which the end has not come.
MOST_HEAD_BYTES = 32_768
MOST_HEADERS = 100
# A client that is cut off while it sends may never see why: so much more is read than is taken, in multiples of that.
_DRAINED = 4
_DISCARDED_SECONDS = 0.5  # in which the body of a form has come
# Of Sec-Fetch-Site: a page of this server, or a user who typed the address. "same-site" is another port of this host.
_OWN = ("same-origin", "none")
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)
# They keep a browser from being used against the server.
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


class Guard:
    """The ASGI middleware. `open_paths` need no token."""

    def __init__(self, app: ASGIApp, *, options: ServeOptions, token: ServerToken, open_paths: Collection[str]) -> None:
        self._app, self._options = app, options
        self._token, self._open, self._wrong = token, frozenset(open_paths), WrongTokens()
        names = (options.host, *options.allow_hosts)
        self._names = frozenset(name.lower().rstrip(".") for name in names) | {"localhost"}
        self._going: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if self._options.behind_tls:
            # So that links to this server are such. The option says so and no header: that could come from anybody.
            scope = {**scope, "scheme": "https"}
        send = _with_headers(send)
        headers, client = Headers(scope=scope), client_of(scope)
        checks = (self._head, self._host, self._site, self._client, self._credentials)
        if refusal := next(filter(None, (check(scope, headers) for check in checks)), None):
            await _discarded(receive)
            await refusal(scope, receive, send)
            return
        self._going[client] += 1
        try:
            body = await self._body(headers, receive)
            if isinstance(body, Response):
                await body(scope, receive, send)
            elif body is not None:  # else the client has gone
                await self._app(scope, _replayed(body, receive), send)
        finally:
            self._going -= Counter([client])

    # --- what is refused: each returns the response, None for a request that may pass -----------------

    def _head(self, scope: Scope, headers: Headers) -> Response | None:
        size = len(scope.get("raw_path") or b"") + len(scope["query_string"])
        size += sum(len(name) + len(value) for name, value in headers.raw)
        if size > MOST_HEAD_BYTES or len(headers.raw) > MOST_HEADERS:
            return refused(431, "TooLarge", "The head of the request is too large.")
        return None

    def _host(self, scope: Scope, headers: Headers) -> Response | None:
        """Only a name can be pointed at another machine (DNS rebinding), so any address will do, on loopback only one
        of this machine."""
        hosts = headers.getlist("host")
        match = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
        name = (match["address"] or match["name"]).lower().rstrip(".") if match else None
        try:
            address = ipaddress.ip_address(name or "")
            known = address.is_loopback or not self._options.on_loopback
        except ValueError:
            known = name in self._names
        return None if known else refused(421, "WrongHost", "This server is not reached by that name.")

    def _site(self, scope: Scope, headers: Headers) -> Response | None:
        if _own_page(headers, scope):
            return None
        return refused(403, "CrossSite", "Requests from pages of other sites are refused.")

    def _client(self, scope: Scope, headers: Headers) -> Response | None:
        """Streams of events count as requests under way."""
        most = self._options.requests_per_client
        if self._going[client_of(scope)] < most:
            return None
        return refused(429, "TooMany", f"A client may have {most} requests under way.", **{"retry-after": "1"})

    def _credentials(self, scope: Scope, headers: Headers) -> Response | None:
        """A browser that opens a page is led to the form that asks for the token."""
        if not self._token.needed or scope["path"] in self._open or self._has_token(scope, headers):
            return None
        client = client_of(scope)
        if self._wrong.too_many(client):
            return refused(429, "TooMany", "Too many wrong tokens.", **{"retry-after": "60"})
        if scope["method"] == "GET" and "text/html" in headers.get("accept", ""):
            return RedirectResponse(LOGIN, 303)
        if "authorization" in headers or COOKIE in headers.get("cookie", ""):
            self._wrong.note(client)
        hint, realm = "Send it as: Authorization: Bearer TOKEN", 'Bearer realm="iterative-rag"'
        return refused(401, "Unauthorized", "A token is needed.", hint, **{"www-authenticate": realm})

    def _has_token(self, scope: Scope, headers: Headers) -> bool:
        given = headers.getlist("authorization")
        if given:
            scheme, _, value = given[0].partition(" ")
            return len(given) == 1 and scheme.lower() == "bearer" and self._token.matches(value.strip())
        return self._token.signed_in(HTTPConnection(scope).cookies.get(COOKIE, ""))

    async def _body(self, headers: Headers, receive: Receive) -> bytes | Response | None:
        """The body, None where the client went away before its end."""
        most, length = self._options.body_bytes, headers.get("content-length", "0")
        too_large = refused(413, "TooLarge", f"A request may have at most {most:,} bytes.")
        if not length.isdecimal() or int(length) > _DRAINED * most:
            return too_large
        body, size, more = bytearray(), 0, True
        try:
            async with asyncio.timeout(self._options.body_seconds):
                while more and size <= _DRAINED * most:
                    message = await receive()
                    if message["type"] != "http.request":
                        return None
                    size += len(message.get("body", b""))
                    if size <= most:
                        body += message.get("body", b"")
                    more = message.get("more_body", False)
        except TimeoutError:
            return refused(408, "TooSlow", "The request did not arrive in time.")
        return bytes(body) if size <= most else too_large


async def _discarded(receive: Receive) -> None:
    """Read what comes at once of the body of a refused request: a connection closed with unread bytes is reset, and the
    client may never see the refusal."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(_DISCARDED_SECONDS):
            while size <= MOST_HEAD_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body", False):
                    return


def refused(status: int, code: str, message: str, hint: str = "", **headers: str) -> Response:
    """An error in the form of the HTTP door, which closes the connection: the whole body may not have been read."""
    error = {"code": code, "message": message, "hint": hint, "retryable": status in (408, 429)}
    return JSONResponse({"error": error}, status, {"connection": "close", **headers})


def _own_page(headers: Headers, scope: Scope) -> bool:
    """Whether no page of another site can have sent the request."""
    site, origins = headers.get("sec-fetch-site", "none"), headers.getlist("origin")
    if origins:
        return len(origins) == 1 and _same_origin(origins[0], headers["host"]) and site in _OWN
    if site in _OWN:
        return True
    # A link from elsewhere may open a page; it may change and embed nothing.
    return (
        scope["method"] in ("GET", "HEAD")
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )


def _same_origin(origin: str, host: str) -> bool:
    """Behind a proxy that ends TLS the scheme differs, so host and port are compared."""
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _with_headers(send: Send) -> Send:
    """Answers are kept by no cache unless a door says otherwise, as it does for its static files."""

    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            headers.setdefault("cache-control", "no-store")
        await send(message)

    return sent


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one message, then what the server has to tell: that the client has gone."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return messages.pop() if messages else await receive()

    return replay
