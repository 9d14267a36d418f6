"""Everything that goes wrong with a Qdrant server has its own error, says what to type, and never shows the key."""

from __future__ import annotations

import json
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from fakes.model_server import unused_url
from iterative_rag.errors import (
    CorpusMismatch,
    IterativeRAGError,
    MissingExtra,
    StoreError,
    StoreMissing,
    StoreUnreachable,
    UsageError,
    install_command,
)
from iterative_rag.index.server.server_address import ServerAddress, parse_address
from iterative_rag.index.server.server_store import ServerPlace
from iterative_rag.index.vector_store import places_at

pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")

KEY = "a-key-that-nobody-may-see"


class Server:
    """Answers every call with one status and body, or hangs up; remembers the keys it was shown."""

    def __init__(self) -> None:
        self.status, self.body = 200, json.dumps({"result": {"exists": False}})
        self.keys: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *arguments: Any) -> None:
                pass

            def do_GET(self) -> None:
                outer.keys.append(self.headers.get("api-key"))
                if not outer.status:
                    self.connection.close()
                    return
                self.send_response(outer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body.encode())

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def address(self) -> ServerAddress:
        return ServerAddress("127.0.0.1", self._http.server_port)

    def fails(self, status: int, said: str) -> ServerPlace:
        self.status, self.body = status, json.dumps({"status": {"error": said}})
        return ServerPlace(self.address, "small")

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    with closing(Server()) as running:
        yield running


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("QDRANT_API_KEY", KEY)
    return KEY


def failure(place: ServerPlace) -> IterativeRAGError:
    """The error, after a look for the key in everything that a traceback of it could show."""
    with pytest.raises(IterativeRAGError) as raised:
        place.load(0)
    error = raised.value
    shown = [str(error), repr(error), error.hint, *traceback.format_exception(error)]
    assert not any(KEY in text for text in shown)
    assert str(error).endswith(".")
    assert error.hint
    return error


def test_the_key_goes_to_the_server_and_nowhere_else(server: Server) -> None:
    place = ServerPlace(server.address, "small")
    place.remove("")
    assert server.keys == [KEY]
    assert KEY not in f"{place.name} {place.option} {vars(place)}"


BROKE = f"something broke, {KEY}"


@pytest.mark.parametrize(
    ("status", "said", "kind", "told"),
    [
        (401, f"Invalid API key {KEY}", StoreError, "refuses the key"),
        (403, f"Invalid API key {KEY}", StoreError, "refuses the key"),
        (404, "Not found: Collection `x` doesn't exist!", StoreMissing, "has no collection"),
        (400, "Vector dimension error: expected dim: 384, got 64", CorpusMismatch, "of other dimensions"),
        (500, BROKE, StoreUnreachable, "something broke, [key]"),
        (503, BROKE, StoreUnreachable, "something broke, [key]"),
        (429, BROKE, StoreUnreachable, ""),
        (418, BROKE, StoreError, "something broke, [key]"),
        (0, "", StoreUnreachable, "broke off its reply"),
    ],
)
def test_what_a_server_answers_has_its_own_error(
    server: Server, status: int, said: str, kind: type[IterativeRAGError], told: str
) -> None:
    error = failure(server.fails(status, said))
    assert type(error) is kind
    assert told in str(error)


def test_no_server() -> None:
    port = int(unused_url().rsplit(":", 1)[1])
    error = failure(ServerPlace(ServerAddress("127.0.0.1", port), "small"))
    assert type(error) is StoreUnreachable
    assert error.retryable
    assert f"http://127.0.0.1:{port}" in str(error)
    assert "--index local" in error.hint


def test_without_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    error = failure(ServerPlace(ServerAddress("127.0.0.1"), "small"))
    assert type(error) is MissingExtra
    assert error.hint == install_command("qdrant")


def test_no_collection(server: Server) -> None:
    server.body = json.dumps({"result": {"exists": False}})
    error = failure(ServerPlace(server.address, "small"))
    assert type(error) is StoreMissing
    assert f"--corpus small --index 'qdrant://127.0.0.1:{server.address.port}'" in error.hint


# --- addresses -------------------------------------------------------------------------------


def test_an_address_is_read_whole() -> None:
    address = parse_address("qdrants://db.example:7000/mine?shards=4&replicas=2&timeout=90")
    assert address == ServerAddress("db.example", 7000, True, "mine", 4, 2, 90)
    assert address.url == "https://db.example:7000"
    # What names the place does not depend on how the collection was to be made.
    assert address.place("c") == parse_address("qdrants://db.example:7000/mine").place("c")
    assert parse_address("qdrant://[::1]").url == "http://[::1]:6333"
    assert parse_address("qdrant://h").place("c") == "qdrant://h:6333/iterative-rag-c"


@pytest.mark.parametrize(
    "text",
    [
        "http://h:6333",
        "qdrant://",
        "qdrant:///c",
        "qdrant://h:port",
        "qdrant://h:99999",
        "qdrant://h/a/b",
        "qdrant://h/..",
        "qdrant://h?shards=0",
        "qdrant://h?shards=x",
        "qdrant://h?shards=٣",
        "qdrant://h?colour=red",
        "qdrant://h?tls=1",
        "qdrant://h#part",
        "somewhere",
        "qdrant://[::1",
    ],
)
def test_what_is_no_address_says_how_one_looks(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        places_at(text)
    assert raised.value.hint


@pytest.mark.parametrize(
    "text",
    [
        f"qdrant://user:{KEY}@h",
        f"qdrant://{KEY}@h:6333/c",
        f"qdrant://h?api_key={KEY}",
        f"qdrant://h?api-key={KEY}",
        f"http://{KEY}@h",
    ],
)
def test_a_key_in_an_address_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        places_at(text)
    assert KEY not in f"{raised.value} {raised.value.hint}"
