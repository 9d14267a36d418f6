"""Keys: each is sent to its own host, by a safe way, and shown nowhere."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from fakes.command_line import Command, TerminalCommand
from fakes.loopback_server import RecordingServer
from fakes.model_server import FakeServer, Fault
from iterative_rag.cli.console import show_warnings
from iterative_rag.errors import FetchError, IterativeRAGError, LLMServerError, SettingsError, UsageError
from iterative_rag.index.embedders import embedder
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.server.server_store import ServerPlace
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.protocols import ChatRequest
from iterative_rag.remote import api_keys, hosts
from iterative_rag.remote.server_calls import CallState, without_secrets
from iterative_rag.settings import Settings
from iterative_rag.sources.search_engines import Tavily

KEY = "sk-very-secret-0815"
REQUEST = ChatRequest("analyse", "system", "the question", max_tokens=64)


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY", KEY)
    return KEY


def value_for(url: str) -> str:
    return api_keys.find(url, "openai-like").value


# --- whose key it is ---------------------------------------------------------------------------


def test_a_key_goes_to_its_host_alone(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", "api.example.org")
    assert value_for("https://api.example.org/v1") == key
    assert value_for("https://API.example.org.:8443/v1") == key
    for other in ("https://example.org", "https://evil.api.example.org", "https://api.example.org.evil.net"):
        assert value_for(other) == ""
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", "api.example.org:8443")
    assert value_for("https://api.example.org:8443/v1") == key
    assert value_for("https://api.example.org/v1") == ""


def test_a_key_without_a_host_is_not_sent_and_that_is_told(server: FakeServer, key: str) -> None:
    model, _ = chat_model(f"openai-like/tiny:8b@{server.url}/v1", Settings())
    assert model is not None
    host = server.url.removeprefix("http://")
    server.faults.append(Fault("status", 401, "who are you?"))
    with pytest.raises(LLMServerError) as caught:
        model.complete(REQUEST)
    assert f"export ITERATIVE_RAG_API_KEY_HOST={host}" in caught.value.hint
    assert key not in str([seen.headers for seen in server.seen])


def test_the_key_of_another_host_is_not_sent(server: FakeServer, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", "api.example.org")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_ORG_ID", "org-very-secret")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway-Token: {KEY}")
    model, _ = chat_model(f"openai-like/tiny:8b@{server.url}/v1", Settings())
    assert model is not None
    model.complete(REQUEST)
    embedder(f"openai-like/tiny:8b@{server.url}/v1").embed_query("a")
    sent = str([seen.headers for seen in server.seen])
    assert key not in sent
    assert "org-very-secret" not in sent
    server.faults.append(Fault("status", 401, "who are you?"))
    with pytest.raises(LLMServerError) as caught:
        model.complete(REQUEST)
    assert "belongs to api.example.org" in caught.value.hint


@pytest.mark.parametrize(
    ("url", "goes"),
    [
        ("http://127.0.0.1:8000", True),
        ("http://localhost:8000", True),
        ("http://[::1]:8000", True),
        ("http://10.1.2.3", True),
        ("http://172.31.0.1", True),
        ("http://192.168.1.7:8000", True),
        ("http://169.254.1.1", True),
        ("http://[fd00::1]:8000", True),
        ("http://[fe80::1]:8000", True),
        ("http://[::ffff:10.0.0.1]", True),
        ("https://203.0.113.9", True),
        ("http://203.0.113.9", False),
        ("http://172.32.0.1", False),
        ("http://[2001:db8::1]", False),
        ("http://[::ffff:203.0.113.9]", False),
        ("http://gpu.lan:8000", False),  # whoever answers the look-up decides where that is
    ],
)
@pytest.mark.parametrize("service", ["openai-like", "ollama", "qdrant"])
def test_plain_http_is_for_this_machine_and_private_addresses(
    url: str, goes: bool, service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(api_keys.variables(service)[0], KEY)
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", httpx.URL(url).host)
    found = api_keys.find(url, service)
    assert found.value == (KEY if goes else "")
    assert goes or "plain HTTP" in found.withheld
    assert goes or "--allow-http" in found.hint
    monkeypatch.setenv("ITERATIVE_RAG_ALLOW_HTTP", f"other.example.org, {httpx.URL(url).host}")
    assert api_keys.find(url, service).value == KEY


# --- keys set, list, remove --------------------------------------------------------------------


def test_keys_are_stored_for_a_host_and_never_shown(
    run: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("keys", "set", "https://API.example.org/v1", stdin=f"{KEY}\n")
    assert done.code == 0
    stored = tmp_path / "config" / "iterative-rag" / "keys.json"
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    run("keys", "set", "gpu.lan:8000", "--allow-http", stdin="sk-of-the-machine")
    listed = run("keys")
    assert listed.out == "api.example.org\ngpu.lan:8000  (also over plain HTTP)\n"
    assert KEY not in done.out + done.err + listed.out + listed.err
    assert value_for("https://api.example.org/v1") == KEY
    assert value_for("http://api.example.org/v1") == ""
    assert value_for("http://gpu.lan:8000/v1") == "sk-of-the-machine"
    assert value_for("http://gpu.lan:8001/v1") == ""
    assert without_secrets(f"wrong key {KEY}") == "wrong key [key]"
    assert run("keys", "remove", "api.example.org").code == 0
    assert value_for("https://api.example.org/v1") == ""
    assert run("keys", "remove", "api.example.org").code == 2


def test_a_key_that_is_typed_is_not_echoed(on_a_terminal: TerminalCommand) -> None:
    shown = on_a_terminal(["keys", "set", "api.example.org"], typed=f"{KEY}\n")
    assert "Stored for api.example.org" in shown
    assert KEY not in shown
    assert value_for("https://api.example.org/v1") == KEY


HOST = "api.example.org"


@pytest.mark.parametrize(
    ("host", "value"), [(HOST, " \n"), (HOST, "two words"), (HOST, "schlüssel"), ("user:pw@host", KEY), ("a b", KEY)]
)
def test_what_is_no_key_or_no_host_is_refused(host: str, value: str) -> None:
    with pytest.raises(UsageError):
        api_keys.store(host, value)


@pytest.mark.skipif(os.name != "posix", reason="permissions of POSIX")
def test_a_key_file_that_others_can_read_is_refused() -> None:
    api_keys.store("api.example.org", KEY)
    api_keys.keys_file().chmod(0o644)
    with pytest.raises(SettingsError) as caught:
        api_keys.find("https://api.example.org", "openai-like")
    assert "chmod 600" in caught.value.hint


# --- redirects ---------------------------------------------------------------------------------


def chat(spec: str) -> Callable[[], object]:
    def call() -> object:
        model, _ = chat_model(spec, Settings(retries=0))
        assert model is not None
        return model.complete(REQUEST)

    return call


def calls(url: str, host: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[[], object]]:
    """Every client that sends a key, called at the server at `url`."""
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", host)
    monkeypatch.setenv("OLLAMA_HOST", url)
    for name in api_keys.SECRETS:
        monkeypatch.setenv(name, KEY)
    address = ServerAddress("127.0.0.1", int(host.rsplit(":", 1)[1]))
    return {
        "openai-like": chat(f"openai-like/m@{url}/v1"),
        "ollama": chat("ollama/m"),
        "openai-like embedder": lambda: embedder(f"openai-like/m@{url}/v1").embed_query("the question"),
        "ollama embedder": lambda: embedder("ollama/m").embed_query("the question"),
        "qdrant": lambda: ServerPlace(address, "small").remove(""),
        "tavily": lambda: Tavily(f"{url}/search", "agent").search("the question", 3),
    }


@pytest.mark.parametrize(
    "client", ["openai-like", "ollama", "openai-like embedder", "ollama embedder", "qdrant", "tavily"]
)
def test_a_redirect_takes_neither_key_nor_text_along(
    client: str, thief: RecordingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordingServer(redirect_to=thief.url) as first:
        with pytest.raises((IterativeRAGError, FetchError)):
            calls(first.url, first.host, monkeypatch)[client]()
        assert KEY in "".join(first.received)  # it was its own
    assert thief.received == []


# --- the first sending -------------------------------------------------------------------------


def send(url: str, to: str = "") -> httpx.Request:
    """What a client for `url` sends to `to`."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200)

    with httpx.Client(transport=httpx.MockTransport(answer), **CallState().http_options(url, key=KEY)) as client:
        client.post(to or url, json={}, headers={"Authorization": "Bearer another", "X-Token": "another"})
    return seen[0]


def test_the_first_sending_to_a_host_is_told_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = "https://first.example.org/v1"
    assert send(url).headers["Authorization"] == f"Bearer {KEY}"
    assert caplog.messages == ["Sending the question and passages to first.example.org (first time)."]
    monkeypatch.setattr(hosts, "_announced", set())  # as in a new process
    send(url)
    assert len(caplog.messages) == 1
    assert "first.example.org:443" in (tmp_path / "home" / "hosts.json").read_text()


def test_another_host_gets_no_key_and_no_header_of_the_library() -> None:
    headers = send("https://first.example.org/v1", to="https://other.example.org/v1").headers
    assert "Authorization" not in headers
    assert "X-Token" not in headers
    assert headers["Content-Type"] == "application/json"
    assert "X-Token" not in send("https://first.example.org/v1").headers


def test_on_the_command_line_it_is_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    show_warnings()  # its handler goes with the test
    send("https://third.example.org/v1")
    told = "Note: Sending the question and passages to third.example.org (first time).\n"
    assert capsys.readouterr() == ("", told)
