"""What an attacker sends to the HTTP door: nothing is done, nothing is told, and the server goes on."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.running_server import TOKEN, RunningServer, running_server
from fakes.two_article_corpus import QUESTION

# Host headers; {port} is that of the server. The names that look like numbers resolve to loopback.
HOSTS = [
    "evil.example",
    "127.0.0.1.evil.example",
    "",
    "127.0.0.1@evil.example",
    "127.0.0.1:99999999",
    "[::1",
    "2130706433",
    "127.1",
    "192.168.1.5:{port}",
    "0.0.0.0:{port}",
    "localhost,evil.example",
]

# Headers that a browser adds to what a page of another site sends.
ORIGINS = [
    [("Origin", "http://evil.example")],
    [("Origin", "null")],
    [("Origin", "https://localhost")],
    [("Origin", "http://127.0.0.1"), ("Origin", "http://evil.example")],
    [("Origin", "http://127.0.0.1.evil.example")],
    [("Origin", "")],
    [("Origin", "http://[")],
    [("Sec-Fetch-Site", "cross-site")],
    [("Sec-Fetch-Site", "same-site")],
    [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate")],
]

# Headers of somebody who does not know the token, or sends it where it does not belong.
CREDENTIALS: list[list[tuple[str, str]]] = [
    [],
    [("Authorization", "Bearer")],
    [("Authorization", f"Basic {TOKEN}")],
    [("Authorization", f"Bearer {TOKEN.upper()}")],
    [("Authorization", f"Bearer {TOKEN[:-1]}")],
    [("Authorization", "Bearer " + "x" * 8000)],
    [("Authorization", "Bearer \xff\xfe")],
    [("Authorization", f"Bearer {TOKEN}"), ("Authorization", "Bearer x")],
    [("Cookie", f"iterative_rag_session={TOKEN}")],
    [("Cookie", 'iterative_rag_session="; x')],
    [("X-Api-Key", TOKEN)],
]

PATHS = [
    "/api/documents/../../../etc/passwd",
    "/api/documents/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/api/documents/%00",
    "/api/documents/file:%2f%2f%2fetc%2fpasswd",
    "/../../etc/passwd",
    "/api/runs/%2e%2e/events",
    "/api/documents/x?corpus=../..",
    "/api/search?q=x&corpus=..%2ftowns",
    "/api/documents/%ff%fe",
    "/api/documents/" + "x" * 5000,
    "/static/../../pyproject.toml",
    "/.env",
]

# Of POST /api/ask: no JSON, no question, or what a request may not choose.
BODIES: list[Any] = [
    "",
    "{",
    "null",
    "[" * 100_000,
    '{"question": ' + "1" * 5000 + "}",
    "\x00",
    '{"question": "\\ud800"}',
    {},
    {"question": " \n"},
    {"question": 7},
    {"question": "x?", "llm": "openai-like/x@http://evil.example"},
    {"question": "x?", "api_key": "k"},
    {"question": "x?", "index": "qdrant://evil.example"},
    {"question": "x?", "web": True},
    {"question": "x?", "search_engine": "searxng@http://evil.example"},
    {"question": "x?", "limits": {"max_hops": -1}},
    {"question": "x?", "limits": {"max_hops": 7}},
    {"question": "x?", "limits": {"max_seconds": float("nan")}},
    {"question": "x?", "limits": {"max_tokens": 10**400}},
    {"question": "x?", "backend": "ollama/x@http://evil.example"},
    {"question": "x?", "strategy": "__import__('os')"},
    {"question": "x?", "language": "../.."},
    {"question": "x?", "corpus": ["towns"]},
]

NONSENSE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /healthz\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost : 127.0.0.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\x00b\r\n\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: gzip\r\n\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
]


# --- the tests -----------------------------------------------------------------------------------


JSON = ("Content-Type", "application/json")
QUESTION_BODY = json.dumps({"question": QUESTION})


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that asks for a token and has little patience."""
    folder = tmp_path_factory.mktemp("guarded")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        with running_server(folder, token=TOKEN, head_seconds=0.5, body_seconds=0.5) as running:
            yield running


def request(
    line: str, *headers: tuple[str, str], body: str | bytes = "", host: str | None = "127.0.0.1", length: bool = True
) -> bytes:
    """A request that asks to close the connection; with the length of its body unless it gives one itself."""
    sent = body.encode() if isinstance(body, str) else body
    lines = [f"{line} HTTP/1.1", *([f"Host: {host}"] if host is not None else []), "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers]
    if length and sent:
        lines.append(f"Content-Length: {len(sent)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + sent


def ask(body: Any, *headers: tuple[str, str], **options: Any) -> bytes:
    return request("POST /api/ask", JSON, *headers, body=body if isinstance(body, str) else json.dumps(body), **options)


def check_response(running: RunningServer, sent: bytes, *statuses: int) -> str:
    """The response, which has one of the statuses and tells nothing; none of the runs of the server began."""
    before = len(running.services.runs.all())
    received = running.raw(sent).decode("utf-8", "replace")
    status = int(received.split(" ", 2)[1]) if received.startswith("HTTP/1.1 ") else 0
    assert status in statuses, received[:300]
    folders = [str(running.home), str(Path(__file__).parents[2]), str(Path.home()) + "/", "Traceback", 'File "']
    assert [secret for secret in (*folders, TOKEN, running.services.token.cookie or TOKEN) if secret in received] == []
    assert len(running.services.runs.all()) == before
    return received


# --- by another name, or from a page of another site ------------------------------------------------


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(served: RunningServer, host: str) -> None:
    check_response(served, ask(QUESTION_BODY, host=host.format(port=served.port)), 421, 400)


def test_no_host_or_two_are_refused(served: RunningServer) -> None:
    check_response(served, ask(QUESTION_BODY, host=None), 400, 421)
    check_response(served, ask(QUESTION_BODY, ("Host", "evil.example")), 400, 421)


@pytest.mark.parametrize("headers", ORIGINS)
def test_a_page_of_another_site_asks_nothing(served: RunningServer, headers: list[tuple[str, str]]) -> None:
    check_response(served, ask(QUESTION_BODY, *headers), 403)


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_form_cannot_ask(served: RunningServer, kind: str) -> None:
    check_response(served, request("POST /api/ask", ("Content-Type", kind), body=QUESTION_BODY), 400)


def test_no_other_site_is_let_in_by_a_preflight(served: RunningServer) -> None:
    origin = f"http://127.0.0.1:{served.port}"
    told = check_response(served, request("OPTIONS /api/ask", ("Origin", origin), host=f"127.0.0.1:{served.port}"), 405)
    assert "access-control" not in told.lower()


# --- without the token ------------------------------------------------------------------------------


@pytest.mark.parametrize("headers", CREDENTIALS)
def test_nothing_is_told_without_the_token(guarded: RunningServer, headers: list[tuple[str, str]]) -> None:
    check_response(guarded, ask(QUESTION_BODY, *headers), 401)


@pytest.mark.parametrize(
    "line",
    [
        *("GET /api/runs", "GET /api/openapi.json", f"GET /api/corpora?token={TOKEN}", "GET /nothing"),
        *("GET /v1/models", "POST /v1/chat/completions", "POST /mcp", "GET /mcp", "GET /runs/x"),
    ],
)
def test_no_path_is_open(guarded: RunningServer, line: str) -> None:
    # The address that the client itself has sent is not told again either.
    check_response(guarded, request(line), 401)


@pytest.mark.parametrize(
    "line", ["GET //healthz", "GET /healthz/../api/runs", "GET /login/../api/runs", "GET /HEALTHZ"]
)
def test_an_open_path_opens_no_other(guarded: RunningServer, line: str) -> None:
    check_response(guarded, request(line), 401, 404)


def test_a_wrong_token_signs_no_browser_in(guarded: RunningServer) -> None:
    form = ("Content-Type", "application/x-www-form-urlencoded")
    for body in ("token=wrong", "token=", "x", "token=%00%ff", f"token={TOKEN[:-1]}"):
        assert "set-cookie" not in check_response(guarded, request("POST /login", form, body=body), 401)


# --- too large, too slow ----------------------------------------------------------------------------


@pytest.mark.parametrize("length", ["10000000000", "-1", "1e3", "1,1", "0x10"])
def test_a_wrong_or_giant_length_is_refused(served: RunningServer, length: str) -> None:
    check_response(
        served, request("POST /api/ask", JSON, ("Content-Length", length), body="{}", length=False), 400, 413
    )


def test_a_giant_body_is_refused(served: RunningServer) -> None:
    check_response(served, ask({"question": "x" * 1_100_000}), 413)
    chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
    head = request("POST /api/ask", JSON, ("Transfer-Encoding", "chunked"))
    check_response(served, head + chunk * 17 + b"0\r\n\r\n", 413)


@pytest.mark.parametrize(
    "sent",
    [
        request("GET /healthz", ("X-Long", "x" * 70_000)),
        request("GET /" + "x" * 70_000),
        request("GET /healthz", *[(f"X-{n}", "x" * 100) for n in range(700)]),
    ],
    ids=["header", "path", "many headers"],
)
def test_a_giant_head_is_refused(served: RunningServer, sent: bytes) -> None:
    check_response(served, sent, 431)


@pytest.mark.parametrize(
    "sent", [b"", b"G", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n", b"GET /healthz HTTP/1.1\r\nX: "], ids=str
)
def test_a_head_that_does_not_come_is_not_waited_for(guarded: RunningServer, sent: bytes) -> None:
    assert guarded.raw(sent) == b""


def test_a_body_that_does_not_come_is_not_waited_for(guarded: RunningServer) -> None:
    head = ("Authorization", f"Bearer {TOKEN}"), ("Content-Length", "100")
    check_response(guarded, request("POST /api/ask", JSON, *head, body="{", length=False), 408)


# --- paths ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_no_file_is_reached_through_a_path(served: RunningServer, path: str) -> None:
    assert "root:" not in check_response(served, request(f"GET {path}"), 404, 400)


# --- bodies -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("body", BODIES, ids=lambda body: str(body)[:60])
def test_a_body_that_asks_for_what_it_may_not_is_refused(served: RunningServer, body: Any) -> None:
    check_response(served, ask(body), 400)


@pytest.mark.parametrize("corpus", ["../..", "/etc", "starter", "towns/../towns", "\x00"])
def test_a_corpus_that_is_not_served_is_not_found(served: RunningServer, corpus: str) -> None:
    check_response(served, ask({"question": "x?", "corpus": corpus}), 404)


# --- what is no HTTP --------------------------------------------------------------------------------


@pytest.mark.parametrize("sent", NONSENSE, ids=lambda sent: str(sent[:40]))
def test_what_is_no_http_is_refused(served: RunningServer, sent: bytes) -> None:
    check_response(served, sent, 400, 421, 501)


@pytest.mark.parametrize("method", ["PUT", "TRACE", "CONNECT", "BREW", "GET"])
def test_a_method_that_is_not_offered_is_refused(served: RunningServer, method: str) -> None:
    check_response(served, request(f"{method} /api/ask"), 405, 400)


def test_a_second_request_hides_in_no_body(served: RunningServer) -> None:
    hidden = b"GET /api/runs HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    both = [("Transfer-Encoding", "chunked"), ("Content-Length", str(len(hidden) + 5))]
    sent = request("POST /api/ask", JSON, *both) + b"0\r\n\r\n" + hidden
    assert served.raw(sent).count(b"HTTP/1.1 ") == 1


def test_idle_connections_shut_nobody_out(served: RunningServer) -> None:
    idle = [socket.create_connection(("127.0.0.1", served.port)) for _ in range(200)]
    try:
        check_response(served, request("GET /healthz"), 200)
    finally:
        for one in idle:
            one.close()


def test_after_all_that_it_still_answers(served: RunningServer) -> None:
    with served.client() as client:
        assert client.post("/api/ask", json={"question": QUESTION}).json()["short_answer"] == "Edda Holm"
