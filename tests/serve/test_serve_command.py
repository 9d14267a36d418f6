"""`iterative-rag serve` as a process: what it prints, who gets in, how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from fakes.command_line import run_as_process
from fakes.model_server import FakeServer, Fault
from fakes.running_server import CORPUS, TOKEN, events_in, running_server
from fakes.two_article_corpus import QUESTION
from fakes.two_corpora import BOTH, CITED, SHORT_ANSWER, index_two_corpora
from fakes.two_corpora import QUESTION as CHAIN
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.cli import main
from iterative_rag.serve.mcp_door.tools import document_uri

KEY = "sk-a-key-that-nobody-may-see"


@contextmanager
def serving(*options: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str, list[str]]]:
    """The process, the address that it tells, and the lines of its start."""
    command = [sys.executable, "-m", "iterative_rag", "serve", "--port", "0", "--llm", "builtin", *options]
    environment = {**os.environ, **environment}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        lines = []
        try:
            for line in process.stderr:
                lines.append(line.rstrip())
                if line.startswith("Stop it"):
                    break
            address = re.search(r"http://\S+?:\d+", "\n".join(lines))
            assert address, lines
            yield process, address[0], lines
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                process.wait(30)


def test_several_corpora_are_asked_at_once(tmp_path: Path) -> None:
    index_two_corpora(tmp_path)
    with (
        serving("--corpus", BOTH) as (_, address, lines),
        httpx.Client(base_url=address, trust_env=False, timeout=60) as client,
    ):
        assert lines[0].startswith("Serving towns, people with")
        assert [one["name"] for one in client.get("/api/corpora").json()["corpora"]] == ["towns", "people"]
        for named in ({}, {"corpus": "people, towns"}):  # the default, and one that a client names
            answer = client.post("/api/ask", json={"question": CHAIN} | named).json()
            assert answer["short_answer"] == SHORT_ANSWER
            assert {(one["title"], one["corpus"]) for one in answer["citations"]} == CITED
        for name in ("towns,cities", ","):
            assert client.post("/api/ask", json={"question": CHAIN, "corpus": name}).status_code == 404
        assert client.get("/api/search", params={"q": "mayor", "corpus": BOTH}).status_code == 400
        assert client.get("/api/search", params={"q": "mayor"}).json()["corpus"] == "towns"
        model = f"iterative-rag:{BOTH}"
        body = {"model": model, "messages": [{"role": "user", "content": CHAIN}]}
        assert SHORT_ANSWER in client.post("/v1/chat/completions", json=body).text
        assert client.get("/v1/models").json()["data"][0]["id"] == model
        run = client.post("/ask", data={"question": CHAIN, "corpus": ["towns", "people"]}).headers["location"]
        client.get(f"/api{run}/events")  # until it ends
        for title, corpus in CITED:
            number = next(one["n"] for one in answer["citations"] if one["title"] == title)
            page = client.get(run, params={"cite": number}).text
            links = set(re.findall(rf'href="(/corpora/{corpus}/documents/[^"]+)"', page))
            assert links
            assert all(title in client.get(link).text for link in links)


def test_no_door_tells_of_a_corpus_that_is_not_named(tmp_path: Path) -> None:
    index_two_corpora(tmp_path)
    runs = []
    with IterativeRAG.from_settings(llm="builtin", corpus="people") as people:
        talk = people.conversation("Both")
        runs.append(talk.ask("Who was the mother of Osric Vane?").run_id)
        (document,) = {hit.document_id for hit, _ in people.search("mother")}
    with IterativeRAG.from_settings(llm="builtin", corpus="towns") as towns:
        talk.rag = towns
        runs.append(talk.ask("Who is the mayor of Aldermere?", meaning="Who is the mayor of Aldermere?").run_id)
    with (
        serving("--corpus", "towns") as (_, address, lines),
        httpx.Client(base_url=address, trust_env=False, timeout=60) as client,
    ):
        assert lines[0].startswith("Serving towns with")
        hidden = [
            f"/api/runs/{runs[0]}",
            f"/api/runs/{runs[0]}/events",
            f"/api/documents/{document}?corpus=people",
            "/api/documents?corpus=people",
            "/api/search?q=mother&corpus=people",
            "/v1/models/iterative-rag:people",
            f"/runs/{runs[0]}",
            f"/runs/{runs[0]}/answer.json",
            "/corpora/people",
            f"/corpora/people/documents/{document}",
        ]
        assert {path: client.get(path).status_code for path in hidden} == dict.fromkeys(hidden, 404)
        for name in ("people", BOTH):
            asked = {"question": CHAIN, "corpus": name}
            assert client.post("/api/ask", json=asked).status_code == 404
            said = {"model": f"iterative-rag:{name}", "messages": [{"role": "user", "content": CHAIN}]}
            assert client.post("/v1/chat/completions", json=said).status_code == 404
        shown = ["/", "/corpora", "/history", "/api/runs", "/api/corpora", "/v1/models", f"/runs/{runs[1]}"]
        for path in shown:
            page = client.get(path).text
            assert "towns" in page, path
            assert not re.search(r"people|mother of Osric|Edda", page), path

        async def by_mcp() -> tuple[list[str], bool]:
            async with Client(f"{address}/mcp") as agent:
                listed = await agent.call_tool("list_corpora", {})
                refused = await agent.call_tool("search", {"query": "mother", "corpus": "people"})
                with pytest.raises(MCPError, match="no corpus"):
                    await agent.read_resource(document_uri("people", document))
                return [one["name"] for one in listed.structured_content["corpora"]], bool(refused.is_error)

        assert anyio.run(by_mcp) == (["towns"], True)

        # The built-in models cannot drive tools by themselves: that strategy is offered nowhere, and refused.
        offered = [client.get("/").text, client.get("/v1/models").text]
        assert not any("agent" in text for text in offered)
        refused = client.post("/api/ask", json={"question": CHAIN, "strategy": "agent"})
        assert (refused.status_code, "cannot follow" in refused.text) == (400, True)


def test_it_serves_on_loopback_until_it_is_told_to_stop() -> None:
    with serving() as (process, address, lines):
        taken = run_as_process("serve", "--llm", "builtin", "--port", address.rpartition(":")[2])
        assert (taken.code, "--port 0 takes a free one" in taken.err) == (2, True)
        assert httpx.get(f"{address}/healthz", trust_env=False).json()["status"] == "ok"
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""
    assert lines[0] == "Serving starter with builtin"
    assert lines[1] == f"Open: {address}/"


def test_another_address_needs_a_token_that_is_shown_once() -> None:
    with serving("--host", "0.0.0.0") as (_, address, lines):
        token = re.search(r"^Token: (\S{40,})", "\n".join(lines), re.MULTILINE)
        assert token
        with httpx.Client(base_url=address, trust_env=False) as client:
            assert client.get("/api/corpora").status_code == 401
            assert client.get("/api/corpora", headers={"authorization": f"Bearer {token[1]}"}).status_code == 200
            assert client.get("/", headers={"accept": "text/html"}).headers["location"] == "/login"
            signed_in = client.post("/login", data={"token": token[1]})
            assert signed_in.status_code == 303
            assert {"HttpOnly", "SameSite=strict"} <= set(signed_in.headers["set-cookie"].split("; "))
            assert client.get("/api/corpora").status_code == 200


def test_behind_a_proxy_that_ends_tls_the_cookie_is_for_https_alone(tmp_path: Path) -> None:
    with running_server(tmp_path, behind_tls=True, token=TOKEN) as running, running.client() as client:
        signed_in = client.post("/login", data={"token": TOKEN})
        asked = {"model": f"iterative-rag:{CORPUS}", "messages": [{"role": "user", "content": QUESTION}]}
        reply = client.post("/v1/chat/completions", json=asked).json()
    assert "Secure" in signed_in.headers["set-cookie"].split("; ")
    assert f"https://127.0.0.1:{running.port}/" in reply["choices"][0]["message"]["content"]


def test_the_token_of_the_environment_is_not_shown() -> None:
    token = "0123456789abcdef0123456789abcdef"
    with serving(ITERATIVE_RAG_TOKEN=token) as (_, address, lines):
        assert token not in "\n".join(lines)
        assert httpx.get(f"{address}/api/runs", trust_env=False).status_code == 401


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--token", "short"], 2, "at least 16 are needed"),
        (["--host", "192.0.2.1", "--token", "0" * 32], 2, "cannot listen on"),
        (["--corpus", "nowhere"], 4, "nowhere"),
    ],
)
def test_what_cannot_be_served_is_told(
    capsys: pytest.CaptureFixture[str], options: list[str], code: int, told: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0", "--llm", "builtin", *options])
    assert ended.value.code == code
    assert told in capsys.readouterr().err


def test_no_key_path_or_address_of_a_server_reaches_a_client(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = server.url.removeprefix("http://")
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY", KEY)
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", host)
    server.always = Fault("status", status=401, message=f"the key {KEY} of /etc/keys/openai at {server.url} is wrong")
    spec = f"openai-like/tiny:8b@{server.url}/v1"
    with running_server(tmp_path, backends={"tiny": spec}) as running, running.client() as client:
        events = client.post("/api/ask", json={"question": QUESTION}, headers={"accept": "text/event-stream"}).text
        whole = client.post("/api/ask", json={"question": QUESTION})
        run = whole.headers["x-run-id"]
        told = [events, whole.text, str(whole.headers)]
        told += [client.get(path).text for path in ("/api/runs", f"/api/runs/{run}", "/api/corpora")]
        running.services.runs.close()
        told.append(client.get(f"/api/runs/{run}/events").text)
    assert events_in(events)[-1][1] == "failed"
    assert whole.status_code == 502
    assert any(seen.headers.get("Authorization") == f"Bearer {KEY}" for seen in server.seen)
    for secret in (KEY, host, "/etc/keys", str(tmp_path)):
        assert [text for text in told if secret in text] == []
