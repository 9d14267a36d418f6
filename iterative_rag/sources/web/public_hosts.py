"""Lets requests out to public hosts only: every host is resolved, checked and connected to by the address checked."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Collection
from types import TracebackType

import httpx

from iterative_rag.errors import AddressRefused, FetchError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[str]]

_SCHEMES = {"http": 80, "https": 443}
_HINT = "Only http and https addresses of public hosts are fetched."
_UNICAST = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Addresses inside 2000::/3 that carry an IPv4 address (6to4, Teredo) or belong to nobody (documentation).
_NOT_HOSTS = tuple(ipaddress.IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"))
# A last label of digits makes a host an IPv4 address to most resolvers, in whatever notation (decimal, octal, hex).
_ENDS_IN_A_NUMBER = re.compile(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$", re.IGNORECASE)


def is_public(address: str) -> bool:
    """Whether an IP address is one that anybody on the internet may have: not private, local, shared or special."""
    try:
        ip: IPAddress = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv6Address):
        if ip in _NAT64:  # how networks without IPv4 reach it
            return is_public(str(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)))
        return ip in _UNICAST and not any(ip in network for network in _NOT_HOSTS)
    return ip.is_global and not ip.is_multicast


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host, as the system finds them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class PublicOnly(httpx.BaseTransport):
    """An httpx transport. A client calls it for every redirect too, so that each is checked as the first was.

    The check and the connection use one and the same look-up: the address goes into the URL, the name into the Host
    header and into TLS. `allow` names hosts ("127.0.0.1:8080") that are let through unchecked: tests and code that
    runs a wiki of its own pass it; no option and no environment variable does. `connector` makes the pool of a host.
    """

    def __init__(
        self,
        connector: Callable[[], httpx.BaseTransport],
        *,
        allow: Collection[str] = (),
        resolve: Resolve = resolve,
    ) -> None:
        self._allow = frozenset(allow)
        self._resolve = resolve
        self._connector = connector
        # One pool a host name: two names of one address must not share a connection that was verified for one of them.
        self._pools: dict[tuple[str, str], httpx.BaseTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Raises AddressRefused, FetchError where the host has no address, or what httpx raises."""
        url = request.url
        host = url.raw_host.decode("ascii").lower()
        if url.scheme not in _SCHEMES or not host:
            raise AddressRefused(f"{url} is not an http or https address.", hint=_HINT)
        if url.userinfo:
            raise AddressRefused(f"The address of {host} holds a user name or password.", hint="Leave it out.")
        port = url.port or _SCHEMES[url.scheme]
        if f"{host}:{port}" in self._allow:
            return self._pool(url.scheme, host).handle_request(request)
        addresses = self._checked(host, port)
        for address in addresses[:-1]:
            try:
                return self._pool(url.scheme, host).handle_request(_pinned(request, host, address))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue  # a host's IPv6 address is often not reachable where its IPv4 address is
        return self._pool(url.scheme, host).handle_request(_pinned(request, host, addresses[-1]))

    def close(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def __exit__(
        self,
        exc_type: type[BaseException] | None = None,
        exc_value: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        self.close()

    def _pool(self, scheme: str, host: str) -> httpx.BaseTransport:
        key = (scheme, host)
        if key not in self._pools:
            self._pools.setdefault(key, self._connector())
        return self._pools[key]

    def _checked(self, host: str, port: int) -> list[str]:
        """The addresses of a host. One that is not public refuses them all."""
        literal = _literal(host)
        if literal is None and _ENDS_IN_A_NUMBER.search(host):
            raise AddressRefused(f"{host} is an unusual way to write an IP address.", hint=_HINT)
        try:
            addresses = [literal] if literal else self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            again = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
            raise FetchError(
                f"The host {host} cannot be found.", hint="Check the address and the network.", retryable=again
            ) from error
        if not addresses or not all(map(is_public, addresses)):
            raise AddressRefused(f"{host} is not a public host.", hint=_HINT)
        return addresses


def _literal(host: str) -> str | None:
    """The host itself if it is an IP address in the usual notation."""
    try:
        return str(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None


def _pinned(request: httpx.Request, host: str, address: str) -> httpx.Request:
    """The same request to an address; `Host` still names the host, and so does TLS."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )
