"""Which hosts are public: the addresses of all others are refused."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from iterative_rag.errors import AddressRefused, FetchError, HostNotPublic, UsageError

Resolve = Callable[[str, int], list[str]]

HINT = "Only http and https addresses of public hosts are fetched."
# Every entry of IANA's registries of special-purpose IPv4 and IPv6 addresses, and multicast: kept here, because what
# `ipaddress` calls global differs from one version of Python to the next, and so would what is refused. The addresses
# at which clouds hand out credentials lie in these networks, but for those that follow them.
_SPECIAL_IPV4 = (
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24"),
    *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
    *("168.63.129.16/32", "161.26.0.0/16", "166.8.0.0/14"),  # Azure's and IBM's own services inside their clouds
)
# Of IPv6 only 2000::/3 is given to hosts. Inside it: protocols (Teredo and others that carry an IPv4 address),
# documentation, 6to4 (which carries one, too), AS112, documentation.
_UNICAST = ipaddress.IPv6Network("2000::/3")
_SPECIAL_IPV6 = ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NOT_HOSTS = tuple(map(ipaddress.ip_network, (*_SPECIAL_IPV4, *_SPECIAL_IPV6)))
# Most resolvers take a host whose last label is a number for an IPv4 address, in any notation (decimal, octal, hex).
_ENDS_IN_A_NUMBER = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)


def is_public(address: str) -> bool:
    """Whether an IP address is reachable on the internet: not special, and not a cloud's own."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if ip in _NAT64:  # how networks without IPv4 reach it
        ip = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return (ip.version == 4 or ip in _UNICAST) and not any(ip in network for network in _NOT_HOSTS)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system finds them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def public_addresses(host: str, port: int, resolve: Resolve = resolve) -> list[str]:
    """The addresses of a host. Raises HostNotPublic unless all of them are public, FetchError where there is none."""
    literal = _literal(host)
    if literal is None and _ENDS_IN_A_NUMBER.search(host):
        raise AddressRefused(f"{host} is an unusual way to write an IP address.", hint=HINT)
    try:
        addresses = [literal] if literal else resolve(host, port)
    except (OSError, UnicodeError) as error:
        again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
        raise FetchError(
            f"The host {host} cannot be found.", hint="Check the address and the network.", retryable=again
        ) from error
    if not addresses or not all(map(is_public, addresses)):
        raise HostNotPublic(f"{host} is not a public host.", hint=HINT)
    return addresses


def as_named(urls: Iterable[str]) -> frozenset[str]:
    """The hosts of these addresses, as PublicTransport takes those that need not be public.

    Only for addresses that the user typed, with the option that says so: a page, a redirect or a client of the server
    must not be able to name one. Raises UsageError where the host is not one certain host.
    """
    found = set()
    for url in urls:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        except ValueError:
            host = port = None
        if not host or not port or "{" in host:
            raise UsageError(
                f"{url} does not name one host.", hint="With --allow-private-hosts: http://HOST:PORT/w/api.php"
            )
        found.add(f"{host}:{port}")
    return frozenset(found)


def _literal(host: str) -> str | None:
    """The host itself if it is an IP address in the usual notation."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None
