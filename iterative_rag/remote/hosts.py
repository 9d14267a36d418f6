"""The hosts of URLs: their names, which of them are this machine or in its own network, and what is sent to them."""

from __future__ import annotations

import ipaddress
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from iterative_rag.errors import CorpusError, SettingsError, UsageError
from iterative_rag.settings import home
from iterative_rag.system.files import read_json, update_json

if TYPE_CHECKING:
    import httpx

_PORTS = {"http": 80, "https": 443}
# RFC 1918, link-local and IPv6's unique local addresses, which are not routed on the internet.
_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)


def host_of(url: str) -> str:
    """The host of a URL, in lower case and without a port; "" where it has none, or is none."""
    try:
        return (urlsplit(url).hostname or "").rstrip(".")
    except ValueError:
        return ""


def host_and_port(url: str) -> str:
    """`api.example.org:443`, with the default port where the URL names none."""
    parts = urlsplit(url)
    return _joined(host_of(url), parts.port or _PORTS.get(parts.scheme, 443))


def checked_host(text: str) -> str:
    """HOST or HOST:PORT, read from what a user types, which may be a whole URL. Raises UsageError."""
    given = text.strip()
    bare_ipv6 = given.count(":") > 1 and "[" not in given and "/" not in given
    try:
        parts = urlsplit(given if "://" in given else f"//[{given}]" if bare_ipv6 else f"//{given}")
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        host, port = "", None
    if not host or "@" in parts.netloc or any(character.isspace() for character in host):
        raise UsageError("That is not a host name.", hint="Use HOST or HOST:PORT, as in api.example.org.")
    return _joined(host, port) if port else host


def is_loopback(url: str) -> bool:
    address = _address(host_of(url))
    return host_of(url) == "localhost" if address is None else address.is_loopback


def is_private(url: str) -> bool:
    """Whether the host is a private IP address. A name is not looked up, because DNS can be forged."""
    address = _address(host_of(url))
    return address is not None and any(address in network for network in _PRIVATE)


def is_openai(url: str) -> bool:
    """Whether this is a URL of OpenAI, over https."""
    return urlsplit(url).scheme == "https" and f".{host_of(url)}".endswith(".openai.com")


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


# --- what is sent to them: announced once for each host, with no key but that of the host --------


TEXTS: Final = "the question and passages"
SEARCH_WORDS: Final = "words of the question"
# The headers that HTTP needs. Client libraries add others: the organisation and the custom headers that the environment
# sets for OpenAI, the platform, and the key of another server.
_HEADERS: Final = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length", "transfer-encoding"}
    | {"user-agent"}
)

_log = logging.getLogger(__name__)
_lock = threading.Lock()
_announced: set[str] = set()


def announce(url: str, what: str = TEXTS) -> None:
    """Log a warning, once and for all, that `what` is sent to the host of `url`, unless that is this machine."""
    host = host_and_port(url)
    with _lock:
        if is_loopback(url) or host in _announced:
            return
        _announced.add(host)
        path = home() / "hosts.json"
        try:
            if host in read_json(path):
                return
            _log.warning("Sending %s to %s (first time).", what, host_of(url))
            update_json(path, lambda held: held.update({host: datetime.now(UTC).date().isoformat()}))
        except (CorpusError, SettingsError) as error:
            # Announced again next time; no reason to end a run.
            _log.warning("Sending %s to %s (not remembered: %s).", what, host_of(url), error)


def signer(url: str, key: str, what: str, *, own_headers: bool) -> Callable[[httpx.Request], None]:
    """A request hook for an httpx client of `url`: it adds `key` for that host alone and removes other headers.

    `own_headers`: keep the headers of the client library for that host.
    """
    home_host = host_and_port(url)

    def sign(request: httpx.Request) -> None:
        here = host_and_port(str(request.url)) == home_host
        for name in list(request.headers):
            if name == "authorization" or (name not in _HEADERS and not (own_headers and here)):
                del request.headers[name]
        if key and here:
            request.headers["Authorization"] = f"Bearer {key}"
        announce(str(request.url), what)

    return sign
