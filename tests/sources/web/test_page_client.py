"""What may be fetched from the web, and how much of it: against real servers on loopback, which are not public."""

from __future__ import annotations

import gzip
import socket
import threading
from http.server import BaseHTTPRequestHandler

import pytest

from fakes.web_sites import REFUSED, FakeNetwork, look_up, sending, serving
from iterative_rag.errors import AddressRefused, FetchError
from iterative_rag.sources.web.page_client import PageResponse, Web
from iterative_rag.sources.web.public_hosts import is_public

AGENT = "tests/1 (tests@example.org)"


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_not_public_is_refused_before_any_connection(url: str) -> None:
    network = FakeNetwork()
    with Web(AGENT, resolve=look_up, sockets=network) as web, pytest.raises(AddressRefused):
        web.get(url)
    assert network.connected == []


def test_there_are_enough_of_them() -> None:
    assert len(set(REFUSED)) >= 40


@pytest.mark.parametrize("url", ["http://93.184.215.14/", "https://public.example/a?b=c", "http://[2606:4700::1111]/"])
def test_public_hosts_are_fetched(url: str) -> None:
    network = FakeNetwork()
    with Web(AGENT, resolve=look_up, sockets=network) as web:
        assert web.get(url) == PageResponse(url, 200, {}, b"hello")


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
    network = FakeNetwork()
    answers = iter([["93.184.215.14"], ["127.0.0.1"]])
    with Web(AGENT, resolve=lambda host, port: next(answers), sockets=network) as web:
        web.get("https://changing.example/x")
        assert network.connected == ["93.184.215.14"]
        assert b"Host: changing.example\r\n" in b"".join(network.sent)
        assert network.tls_names == ["changing.example"]
        with pytest.raises(AddressRefused):
            web.get("https://changing.example/x")
    assert network.connected == ["93.184.215.14"]


def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    network = FakeNetwork(dead=("2606:2800:21f:cb07:6820:80da:af6b:8b2c",))
    with Web(AGENT, resolve=look_up, sockets=network) as web:
        assert web.get("http://both.example/").body == b"hello"
    assert network.connected == [*network.dead, "93.184.215.14"]


def test_a_host_without_a_name_is_not_found_and_not_refused() -> None:
    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    with Web(AGENT, resolve=unknown) as web, pytest.raises(FetchError, match="cannot be found") as raised:
        web.get("http://nowhere.example/")
    assert raised.value.retryable
    assert not isinstance(raised.value, AddressRefused)


# --- servers ---------------------------------------------------------------------------------


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


def dripping_on(handler: BaseHTTPRequestHandler, over: threading.Event) -> None:
    """For ten seconds at most: a client that never gives up must fail the test and not hang it."""
    for _ in range(1000):
        if over.wait(0.01):
            return
        handler.wfile.write(b".")
    handler.close_connection = True


@pytest.mark.parametrize("dripping", ["headers", "body", "redirect"])
def test_a_reply_that_drips_is_given_up(dripping: str) -> None:
    """Each part comes in time, the whole never does: the server ends the test, not the reply."""
    over = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        if dripping == "redirect" and handler.path == "/":
            sending(b"", 302, Location="/next")(handler)
            return
        start = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n"
        handler.wfile.write(start + (b"\r\n" if dripping == "body" else b"X-Filling: "))
        dripping_on(handler, over)

    with serving(drip) as (host, asked), Web(AGENT, allow={host}, seconds=0.4) as web:
        with pytest.raises(FetchError, match="did not reply in full within") as raised:
            web.get(f"http://{host}/")
        over.set()
    assert raised.value.retryable
    assert asked == (["/", "/next"] if dripping == "redirect" else ["/"])


def test_the_deadline_holds_for_a_connection_that_is_used_again() -> None:
    over = threading.Event()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/quick":
            sending(b"hello")(handler)
            return
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nX-Filling: ")
        dripping_on(handler, over)

    with serving(answer) as (host, _), Web(AGENT, allow={host}, seconds=0.4) as web:
        assert web.get(f"http://{host}/quick").body == b"hello"
        with pytest.raises(FetchError, match="did not reply in full within"):
            web.get(f"http://{host}/slow")
        over.set()
        assert web.get(f"http://{host}/quick").body == b"hello"


def test_the_body_of_a_redirect_is_not_read() -> None:
    """However much there is of it: it would lie in memory for nothing."""
    sent: list[int] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if handler.path == "/end":
            sending(b"hello")(handler)
            return
        handler.send_response(302)
        handler.send_header("Location", "/end")
        handler.send_header("Content-Length", str(2**40))
        handler.end_headers()
        for number in range(2000):
            handler.wfile.write(bytes(100_000))
            sent.append(number)

    with serving(answer) as (host, _), Web(AGENT, allow={host}, max_bytes=1000) as web:
        assert web.get(f"http://{host}/").body == b"hello"
    assert len(sent) < 2000


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

    for answer, message in ((silent, "did not reply in full within"), (cut, "broke off")):
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
    assert PageResponse("", 429, {"retry-after": value}, b"").retry_after == seconds
