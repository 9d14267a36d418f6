"""Which addresses are public, and that no other is connected to."""

from __future__ import annotations

import pytest

from fakes.web_sites import REFUSED, FakeNetwork, look_up
from iterative_rag.errors import AddressRefused
from iterative_rag.sources.web.page_client import PageResponse, Web
from iterative_rag.sources.web.transport import as_named, is_public

AGENT = "tests/1 (tests@example.org)"


@pytest.mark.parametrize("url", REFUSED)
def test_what_is_not_public_is_refused_before_any_connection(url: str) -> None:
    network = FakeNetwork()
    with Web(AGENT, resolve=look_up, sockets=network) as web, pytest.raises(AddressRefused):
        web.get(url)
    assert network.connected == []


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
        ("64:ff9b::a83f:8110", False),
        ("192.0.1.0", True),
        ("192.31.196.1", False),
        ("168.63.129.15", True),
        ("161.25.255.255", True),
        ("2620:4f:8000::1", False),
        ("2001:200::1", True),
        ("5f00::1", False),
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


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://Wiki.lan/w/api.php", "wiki.lan:80"),
        ("https://10.0.0.7:8443/api.php", "10.0.0.7:8443"),
        ("http://[::1]:8080/w/api.php", "::1:8080"),
    ],
)
def test_the_hosts_that_a_user_names(url: str, host: str) -> None:
    assert as_named([url]) == {host}
