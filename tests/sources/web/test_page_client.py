"""Pages fetched from real servers on loopback: redirects, sizes, deadlines and faults."""

from __future__ import annotations

import gzip
import socket
import threading

import pytest

from fakes.loopback_server import Handler
from fakes.web_sites import sending, serving
from iterative_rag.errors import AddressRefused, FetchError
from iterative_rag.sources.web.page_client import PageResponse, Web

AGENT = "tests/1 (tests@example.org)"


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
    def answer(handler: Handler) -> None:
        if handler.path == "/start":
            sending(b"", 301, Location="/end")(handler)
        else:
            sending(handler.headers["User-Agent"].encode())(handler)

    with serving(answer) as (host, paths), Web(AGENT, allow={host}) as web:
        reply = web.get(f"http://{host}/start")
    assert (reply.url, reply.body) == (f"http://{host}/end", AGENT.encode())
    assert paths == ["/start", "/end"]


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


def dripping_on(handler: Handler, over: threading.Event) -> None:
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

    def drip(handler: Handler) -> None:
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
