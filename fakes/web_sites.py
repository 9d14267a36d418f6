"""Web servers on loopback, and a web without one: what tests of web pages share."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpcore

from fakes import loopback_server

NAMES = {
    "public.example": ["93.184.215.14"],
    "both.example": ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "93.184.215.14"],
    "private.example": ["10.0.0.7"],
    "mixed.example": ["93.184.215.14", "127.0.0.1"],
    "six.example": ["::1"],
    "mapped.example": ["::ffff:10.0.0.7"],
    "link.example": ["fe80::1%eth0"],
    "meta.example": ["169.254.169.254"],
    "azure.example": ["168.63.129.16"],
    "none.example": [],
}

URLS = """
http://127.0.0.1/ http://127.0.0.1:8080/admin https://127.0.0.1/ http://127.1.2.3/ http://localhost/ http://localhost:6333/
http://LOCALHOST/ http://0.0.0.0/ http://0/ http://10.0.0.1/ http://10.255.255.255:22/ http://172.16.0.1/
http://172.31.255.254/ http://192.168.0.1/ http://192.168.1.1:80/ http://169.254.169.254/latest/meta-data/
http://100.64.0.1/ http://198.18.0.1/ http://192.0.2.1/ http://203.0.113.9/ http://224.0.0.1/ http://239.255.255.250/
http://240.0.0.1/ http://255.255.255.255/ http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/ http://[::ffff:127.0.0.1]/
http://[::ffff:7f00:1]/ http://[::ffff:a9fe:a9fe]/ http://[::127.0.0.1]/ http://[fe80::1]/ http://[fc00::1]/
http://[fd12:3456:789a::1]/ http://[fec0::1]/ http://[ff02::1]/ http://[2002:7f00:1::]/ http://[64:ff9b::7f00:1]/
http://[64:ff9b::a00:1]/ http://[2001:db8::1]/ http://[2001::1]/ http://[100::1]/ http://2130706433/ http://017700000001/
http://0177.0.0.1/ http://0x7f.0.0.1/ http://0x7f000001/ http://127.1/ http://127.0.1/ http://127.0.0.1./ http://3232235521/
http://0300.0250.0.1/ http://134744072/ http://①②⑦.⓪.⓪.①/ http://private.example/ http://mixed.example/ http://six.example/
http://mapped.example/ http://link.example/ http://meta.example/ http://none.example/ http://user:pw@public.example/
http://public.example@127.0.0.1/ http://127.0.0.1#@public.example/ file:///etc/passwd ftp://public.example/
http://192.0.0.192/opc/v2/instance/ http://168.63.129.16/machine http://100.100.100.200/latest/ http://192.88.99.1/
http://[::ffff:168.63.129.16]/ http://[64:ff9b::c000:c0]/ http://[fd00:ec2::254]/ http://azure.example/
gopher://127.0.0.1:70/ data:text/plain,hello //127.0.0.1/ http:/// http://[::1 javascript:alert(1)
"""
REFUSED = URLS.split()


def look_up(host: str, port: int) -> list[str]:
    """Names of this file; whatever else as the system sees it, which knows localhost and all notations of numbers."""
    if host in NAMES:
        return NAMES[host]
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, flags=socket.AI_NUMERICSERV)]


class FakeNetwork(httpcore.NetworkBackend):
    """Stands for the network: every server says hello and closes. The addresses of `dead` refuse.

    `connected` are the addresses that were connected to, `sent` what was sent there, `tls_names` the hosts of TLS.
    """

    def __init__(self, dead: tuple[str, ...] = ()) -> None:
        self.connected: list[str] = []
        self.sent: list[bytes] = []
        self.tls_names: list[str | None] = []
        self.dead = dead

    def connect_tcp(self, host: str, port: int, *_: object, **__: object) -> httpcore.NetworkStream:
        self.connected.append(host)
        if host in self.dead:
            raise httpcore.ConnectError("no route to host")
        return _Hello(self)


class _Hello(httpcore.NetworkStream):
    def __init__(self, network: FakeNetwork) -> None:
        self._network = network
        self._reply = [b"HTTP/1.1 200 OK\r\n\r\nhello", b""]

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._reply.pop(0)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._network.sent.append(buffer)

    def start_tls(self, context: object, server_hostname: str | None = None, timeout: float | None = None) -> _Hello:
        self._network.tls_names.append(server_hostname)
        return self

    def get_extra_info(self, info: str) -> bool | None:
        return True if info == "is_readable" else None  # the end, once the reply is read

    def close(self) -> None:
        """Nothing is open."""


Answer = Callable[[loopback_server.Handler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server's host and port, and the paths that it was asked for."""
    paths: list[str] = []

    class Site(loopback_server.Handler):
        def do_GET(self) -> None:
            paths.append(self.path)
            answer(self)

        def do_POST(self) -> None:
            self.body()
            self.do_GET()

    with loopback_server.serving(Site) as host:
        yield host, paths


def sending(body: bytes, status: int = 200, /, **headers: str) -> Answer:
    def answer(handler: loopback_server.Handler) -> None:
        handler.send(body, status, {name.replace("_", "-"): value for name, value in headers.items()})

    return answer
