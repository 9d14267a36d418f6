"""HTTP connections to public hosts only, and under one deadline: look-up, connect, TLS, headers and body together.

A host that is checked first and connected to by name later can change its DNS in between. Here the check stands where
the socket is opened, and the socket is opened to the address that was checked; so it holds for redirects too.

httpx's own timeouts hold for each wait: a server that sends its headers a byte at a time never meets them. Here every
wait is cut to what is left of the call. (The look-up has the system's own timeout; the time that it takes counts.)
"""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Collection, Iterable
from typing import Any

import httpcore
import httpx

from iterative_rag.errors import AddressRefused
from iterative_rag.sources.web.public_hosts import HINT, Resolve, public_addresses, resolve

_IDLE_CONNECTIONS = 8
_IDLE_SECONDS = 5.0  # after which a connection is not reused: servers close theirs about then


class Deadline(threading.local):
    """When the current call of this thread must be over, in seconds of the monotonic clock."""

    at: float = float("inf")

    def start(self, seconds: float) -> None:
        self.at = time.monotonic() + seconds

    @property
    def passed(self) -> bool:
        return time.monotonic() >= self.at

    def left(self, timeout: float | None) -> float:
        """The timeout of one wait. Raises httpcore.ReadTimeout once nothing is left."""
        seconds = self.at - time.monotonic()
        if seconds <= 0:
            raise httpcore.ReadTimeout("the deadline has passed")
        return seconds if timeout is None else min(timeout, seconds)


class PublicTransport(httpx.HTTPTransport):
    """Raises AddressRefused for an address that is not http(s) to a public host.

    `allow` names hosts ("127.0.0.1:8080") that are connected to unchecked: those of `public_hosts.as_named`, which the
    option --allow-private-hosts asks for, and those of tests. No environment variable does. `sockets` opens the
    connections.
    """

    def __init__(
        self,
        deadline: Deadline,
        *,
        allow: Collection[str] = (),
        resolve: Resolve = resolve,
        sockets: httpcore.NetworkBackend | None = None,
    ) -> None:
        # Not through the constructor of httpx's, which knows no backend.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            max_connections=None,  # the callers bound the requests in flight
            max_keepalive_connections=_IDLE_CONNECTIONS,
            keepalive_expiry=_IDLE_SECONDS,
            network_backend=_PublicBackend(sockets or httpcore.SyncBackend(), deadline, frozenset(allow), resolve),
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
