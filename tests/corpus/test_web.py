"""What may be fetched from the web, and how much of it: against real servers on loopback, which are not public."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from iterative_rag.corpus.public_hosts import is_public
from iterative_rag.corpus.web import Reply, Web
from iterative_rag.errors import AddressRefused, FetchError

AGENT = "tests/1 (tests@example.org)"

NAMES = {
    "public.example": ["93.184.215.14"],
    "both.example": ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "93.184.215.14"],
    "private.example": ["10.0.0.7"],
    "mixed.example": ["93.184.215.14", "127.0.0.1"],
    "six.example": ["::1"],
    "mapped.example": ["::ffff:10.0.0.7"],
    "link.example": ["fe80::1%eth0"],
    "meta.example": ["169.254.169.254"],
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
gopher://127.0.0.1:70/ data:text/plain,hello //127.0.0.1/ http:/// http://[::1 javascript:alert(1)
"""
REFUSED = URLS.split()


def look_up(host: str, port: int) -> list[str]:
    """Names of this file; whatever else as the system sees it, which knows localhost and all notations of numbers."""
    if host in NAMES:
        return NAMES[host]
    return [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, flags=socket.AI_NUMERICSERV)]


class Dialled(httpx.BaseTransport):
    """Stands for the network: notes what was connected to; the addresses of `dead` refuse."""

    def __init__(self, dead: tuple[str, ...] = ()) -> None:
        self.requests: list[httpx.Request] = []
        self.dead = dead

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if request.url.host in self.dead:
            raise httpx.ConnectError("no route to host")
        return httpx.Response(200, stream=httpx.ByteStream(b"hello"))


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_not_public_is_refused_before_any_connection(url: str) -> None:
    network = Dialled()
    with Web(AGENT, resolve=look_up, connector=lambda: network) as web, pytest.raises(AddressRefused):
        web.get(url)
    assert network.requests == []


def test_there_are_enough_of_them() -> None:
    assert len(set(REFUSED)) >= 40


@pytest.mark.parametrize("url", ["http://93.184.215.14/", "https://public.example/a?b=c", "http://[2606:4700::1111]/"])
def test_public_hosts_are_fetched(url: str) -> None:
    network = Dialled()
    with Web(AGENT, resolve=look_up, connector=lambda: network) as web:
        assert web.get(url) == Reply(url, 200, {}, b"hello")


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("8.8.8.8", True),
        ("172.15.255.255", True),
        ("172.32.0.1", True),
        ("100.63.255.255", True),
        ("64:ff9b::808:808", True),  # how a network without IPv4 reaches 8.8.8.8
        ("2a00:1450::1", True),
        ("64:ff9b:1::808:808", False),
        ("2002:808:808::", False),
        ("not an address", False),
    ],
)
def test_where_public_ends(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_the_address_that_was_checked_is_the_one_connected_to() -> None:
    """DNS that answers with a public address first and a private one then gains nothing by it."""
    network = Dialled()
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    with Web(AGENT, resolve=lambda host, port: next(answers), connector=lambda: network) as web:
        web.get("https://changing.example/x")
        (request,) = network.requests
        assert str(request.url) == "https://93.184.215.14/x"
        assert request.headers["Host"] == "changing.example"
        assert request.extensions["sni_hostname"] == "changing.example"
        with pytest.raises(AddressRefused):
            web.get("https://changing.example/x")
    assert len(network.requests) == 1


def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    network = Dialled(dead=("2606:2800:21f:cb07:6820:80da:af6b:8b2c",))
    with Web(AGENT, resolve=look_up, connector=lambda: network) as web:
        assert web.get("http://both.example/").body == b"hello"
    assert [request.url.host for request in network.requests][-1] == "93.184.215.14"


def test_a_host_without_a_name_is_not_found_and_not_refused() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with Web(AGENT, resolve=unknown) as web, pytest.raises(FetchError, match="cannot be found") as raised:
        web.get("http://nowhere.example/")
    assert raised.value.retryable
    assert not isinstance(raised.value, AddressRefused)


# --- servers ---------------------------------------------------------------------------------

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """A server's host and port, and the paths that it was asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            paths.append(self.path)
            answer(self)

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """The client hangs up on what is too long or too slow."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}", paths
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def sending(body: bytes, status: int = 200, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def test_redirects_are_checked_like_the_first_address() -> None:
    with serving(sending(b"secret")) as (inside, asked):
        port = inside.partition(":")[2]
        for target in (
            f"http://{inside}/",
            f"http://localhost:{port}/",
            f"http://2130706433:{port}/",
            "file:///etc/hosts",
        ):
            with (
                serving(sending(b"", 302, Location=target)) as (outside, _),
                Web(AGENT, allow={outside}) as web,
                pytest.raises(AddressRefused),
            ):
                web.get(f"http://{outside}/start")
        assert asked == []


def test_allowed_hosts_are_fetched_and_redirects_among_them_followed() -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/start":
            sending(b"", 301, Location="/end")(handler)
        else:
            sending(handler.headers["User-Agent"].encode())(handler)

    with serving(answer) as (host, paths), Web(AGENT, allow={host}) as web:
        reply = web.get(f"http://{host}/start")
    assert (reply.url, reply.body) == (f"http://{host}/end", AGENT.encode())
    assert paths == ["/start", "/end"]


def test_a_circle_of_redirects_ends() -> None:
    with serving(sending(b"", 302, Location="/again")) as (host, paths), Web(AGENT, allow={host}) as web:
        with pytest.raises(FetchError, match="redirected more than"):
            web.get(f"http://{host}/again")
        assert len(paths) < 10


def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(sending(b"proxy")) as (proxy, asked), serving(sending(b"direct")) as (host, _):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy}")
        with Web(AGENT, allow={host}) as web:
            assert web.get(f"http://{host}/").body == b"direct"
        assert asked == []


@pytest.mark.parametrize("packed", [False, True])
def test_too_much_is_refused_packed_or_not(packed: bool) -> None:
    body = gzip.compress(bytes(50_000_000)) if packed else bytes(3_000_000)
    headers = {"Content_Encoding": "gzip"} if packed else {}
    with (
        serving(sending(body, **headers)) as (host, _),
        Web(AGENT, allow={host}, max_bytes=2_000_000) as web,
        pytest.raises(FetchError, match="larger than the limit of 2 MB"),
    ):
        web.get(f"http://{host}/")


def test_packed_replies_are_unpacked() -> None:
    text = b"The lamp is lit at dusk. " * 1000
    with serving(sending(gzip.compress(text), Content_Encoding="gzip")) as (host, _), Web(AGENT, allow={host}) as web:
        assert web.get(f"http://{host}/").body == text


@pytest.mark.parametrize(
    ("body", "encoding", "message"),
    [
        (gzip.compress(b"The lamp is lit." * 99, mtime=0)[:-20], "gzip", "broke off"),
        (b"no archive at all", "gzip", "damaged"),
        (b"anything", "br", "not asked for"),
    ],
)
def test_packed_replies_that_cannot_be_unpacked(body: bytes, encoding: str, message: str) -> None:
    with (
        serving(sending(body, Content_Encoding=encoding)) as (host, _),
        Web(AGENT, allow={host}) as web,
        pytest.raises(FetchError, match=message),
    ):
        web.get(f"http://{host}/")


def test_a_reply_that_drips_is_given_up() -> None:
    """Each part comes in time, the whole does not."""
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not over.wait(0.01):
            handler.wfile.write(b".")

    with serving(drip) as (host, _), Web(AGENT, allow={host}, seconds=0.2) as web:
        with pytest.raises(FetchError, match="takes longer") as raised:
            web.get(f"http://{host}/")
        over.set()
    assert raised.value.retryable


def test_silence_and_a_cut_are_errors_that_may_pass() -> None:
    over = threading.Event()

    def silent(handler: BaseHTTPRequestHandler) -> None:
        over.wait(30)
        handler.close_connection = True

    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000")
        handler.end_headers()
        handler.wfile.write(b"half a")
        handler.close_connection = True

    for answer, message in ((silent, "no reply in time"), (cut, "broke off")):
        with serving(answer) as (host, _), Web(AGENT, allow={host}, seconds=0.2) as web:
            with pytest.raises(FetchError, match=message) as raised:
                web.get(f"http://{host}/")
            assert raised.value.retryable
            over.set()


def test_a_server_that_is_not_there() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{probe.getsockname()[1]}"
    with Web(AGENT, allow={host}) as web, pytest.raises(FetchError, match="cannot be reached") as raised:
        web.get(f"http://{host}/")
    assert raised.value.retryable
    assert raised.value.hint


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("7", 7.0), ("0", 0.0), ("soon", None), ("", None), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("-5", None)],
)
def test_the_pause_that_a_server_asks_for(value: str, seconds: float | None) -> None:
    assert Reply("", 429, {"retry-after": value}, b"").retry_after == seconds
