"""The hosts of URLs: their names, and which of them are this machine or in its own network."""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from iterative_rag.errors import UsageError

_OPENAI = "openai.com"
_PORTS = {"http": 80, "https": 443}
# RFC 1918, link-local and IPv6's unique local addresses, which are not routed on the internet.
_PRIVATE = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)


def host_of(url: str) -> str:
    """The host of a URL, in lower case and without a port; "" where it has none."""
    return (urlsplit(url).hostname or "").rstrip(".")


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
    host = host_of(url)
    return urlsplit(url).scheme == "https" and (host == _OPENAI or host.endswith(f".{_OPENAI}"))


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
