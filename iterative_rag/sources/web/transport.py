"""Which hosts are public, and HTTP connections to those only.

One deadline holds for a call: look-up, connect, TLS, headers and body together.

A host that is checked first and connected to by name later can change its DNS in between. Here the check stands where
the socket is opened, and the socket is opened to the address that was checked; so it holds for redirects too.

httpx's own timeouts hold for each wait: a server that sends its headers a byte at a time never meets them. Here every
wait is cut to what is left of the call. (The look-up has the system's own timeout; the time that it takes counts.)
"""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from iterative_rag.errors import AddressRefused, FetchError, UsageError

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


def system_addresses(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system finds them."""
    entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in entries))


def public_addresses(host: str, port: int, resolve: Resolve = system_addresses) -> list[str]:
    """The addresses of a host. Raises AddressRefused unless all of them are public, FetchError where there is none."""
    literal = ""  # the host itself if it is an IP address in the usual notation
    with suppress(ValueError):
        literal = str(ipaddress.ip_address(host.strip("[]")))
    if not literal and _ENDS_IN_A_NUMBER.search(host):
        raise AddressRefused(f"{host} is an unusual way to write an IP address.", hint=HINT)
    try:
        addresses = [literal] if literal else resolve(host, port)
    except (OSError, UnicodeError) as error:
        again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
        message = f"The host {host} cannot be found."
        raise FetchError(message, hint="Check the address and the network.", retryable=again) from error
    if not addresses or not all(map(is_public, addresses)):
        wiki = "A wiki there: --allow-private-hosts of `corpus fetch` and `evaluate frames`."
        raise AddressRefused(f"{host} is not a public host.", hint=f"{HINT} {wiki}")
    return addresses


def as_named(urls: Iterable[str]) -> frozenset[str]:
    """The hosts of these addresses, as PublicTransport takes those that need not be public.

    Only for addresses that the user typed, with the option that says so: a page, a redirect or a client of the server
    must not be able to name one. Raises UsageError where the host is not one certain host.
    """
    hosts = set()
    for url in urls:
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
        except ValueError:
            host = port = None
        if not host or not port or "{" in host:
            raise UsageError(f"{url} does not name one host.", hint="With --allow-private-hosts: http://HOST/w/api.php")
        hosts.add(f"{host}:{port}")
    return frozenset(hosts)


_IDLE_CONNECTIONS = 8
_IDLE_SECONDS = 5.0  # after which a connection is not reused: servers close theirs about then


class Deadline(threading.local):
    """When the current call of this thread must be over, in seconds of the monotonic clock."""

    at: float = float("inf")

    def start(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    def left(self, timeout: float | None) -> float:
        """The timeout of one wait. Raises httpcore.ReadTimeout once nothing is left."""
        seconds = self.at - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout("the deadline has passed")
        return seconds if timeout is None else min(timeout, seconds)


class PublicTransport(httpx.HTTPTransport):
    """Raises AddressRefused for an address that is not http(s) to a public host.

    `allow` names hosts ("127.0.0.1:8080") that are connected to unchecked: those of `as_named`, which the
    option --allow-private-hosts asks for, and those of tests. No environment variable does. `sockets` opens the
    connections.
    """

    def __init__(
        self,
        deadline: Deadline,
        *,
        allow: Collection[str] = (),
        resolve: Resolve | None = None,
        sockets: httpcore.NetworkBackend | None = None,
    ) -> None:
        # Not through the constructor of httpx's, which knows no backend.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=None,  # the callers bound the requests in flight
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_PublicBackend(
                sockets or httpcore.SyncBackend(), deadline, frozenset(allow), resolve or system_addresses
            ),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        if url.scheme not in ("http", "https") or not url.host:
            raise AddressRefused(f"{url} is not an http or https address.", hint=HINT)
        if url.userinfo:
            raise AddressRefused(f"The address of {url.host} holds a user name or password.", hint="Leave it out.")
        return super().handle_request(request)


class _PublicBackend(httpcore.NetworkBackend):
    def __init__(
        self, sockets: httpcore.NetworkBackend, deadline: Deadline, allow: frozenset[str], resolve: Resolve
    ) -> None:
        self._sockets = sockets
        self._deadline = deadline
        self._allow = allow
        self._resolve = resolve

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        allowed = f"{host}:{port}" in self._allow
        *others, last = [host] if allowed else public_addresses(host, port, self._resolve)
        for address in others:
            try:
                return self._connect(address, port, timeout)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue  # a host's IPv6 address is often unreachable where its IPv4 address is not
        return self._connect(last, port, timeout)

    def _connect(self, address: str, port: int, timeout: float | None) -> httpcore.NetworkStream:
        stream = self._sockets.connect_tcp(address, port, self._deadline.left(timeout))
        return _TimedStream(stream, self._deadline)


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left(timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = self._deadline.left(timeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
