"""Refuses requests that another site makes a browser send: by a name that points here, or from a page of its own."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from iterative_rag.serve.guards.refusal import refuse

# Of Sec-Fetch-Site: a page of this server, or a user who typed the address. "same-site" is another port of this host.
_OWN = ("same-origin", "none")
_HOST = re.compile(r"(?:\[(?P<address>[0-9A-Fa-f:.]+)\]|(?P<name>[\w.-]+))(?::\d{1,5})?", re.ASCII)


class HostOriginGuard:
    """`names` are the host names under which the server may be reached, besides IP addresses and, on loopback,
    `localhost`. Only a name can be pointed at another machine (DNS rebinding), so any address will do."""

    def __init__(self, app: ASGIApp, *, names: Collection[str], loopback: bool) -> None:
        self._app = app
        self._names = frozenset(name.lower().rstrip(".") for name in names) | {"localhost"}
        self._loopback = loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
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
    found = _HOST.fullmatch(host)
    return (found["address"] or found["name"]).lower().rstrip(".") if found else None


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
