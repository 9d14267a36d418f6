"""The queue, stopping, streams that are lost and found again, and clients that go away; on real sockets."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import httpx

from fakes.running_server import PlayingLLM, events_in, running_server
from fakes.two_article_corpus import QUESTION
from iterative_rag.errors import LLMUnreachable
from iterative_rag.protocols import ChatRequest
from iterative_rag.storage.past_runs import run_of_id
from tests.serve.conftest import PATIENCE, held_server

EVENTS = {"accept": "text/event-stream"}


def until(condition: Any) -> None:
    ends = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < ends, "it did not happen"
        time.sleep(0.01)


def start(client: httpx.Client) -> dict[str, Any]:
    started = client.post("/api/runs", json={"question": QUESTION})
    assert started.status_code == 202, started.text
    run: dict[str, Any] = started.json()
    return run


def state(client: httpx.Client, run: dict[str, Any]) -> str:
    return str(client.get(f"/api/runs/{run['id']}").json()["state"])


def test_runs_wait_in_line_and_are_told_their_place(tmp_path: Path) -> None:
    with held_server(tmp_path, runs_at_once=1) as (running, llm), running.client() as client:
        runs = [start(client) for _ in range(3)]
        until(llm.called.is_set)
        assert [state(client, run) for run in runs] == ["running", "queued", "queued"]
        assert client.post(f"/api/runs/{runs[1]['id']}/stop").status_code == 202
        assert [state(client, run) for run in runs] == ["running", "stopped", "queued"]
        llm.free.set()
        events = [events_in(client.get(run["events"]).text) for run in runs]
    assert [one[-1][1] for one in events] == ["final", "stopped", "final"]
    queued = running.services.runs.get(runs[2]["id"])
    assert queued is not None
    assert queued.state == "done"


def test_more_than_the_queue_holds_is_refused(tmp_path: Path) -> None:
    with held_server(tmp_path, runs_at_once=1, queue=1) as (running, llm), running.client() as client:
        until(lambda: client.post("/api/runs", json={"question": QUESTION}).status_code == 202)
        start(client)
        refused = client.post("/api/runs", json={"question": QUESTION})
        llm.free.set()
    assert refused.status_code == 429
    assert refused.json()["error"]["code"] == "ServerBusy"
    assert refused.headers["retry-after"]


def test_one_client_has_so_many_runs(tmp_path: Path) -> None:
    with held_server(tmp_path, runs_per_client=2) as (running, llm), running.client() as client:
        first = start(client)
        start(client)
        refused = client.post("/api/runs", json={"question": QUESTION})
        client.post(f"/api/runs/{first['id']}/stop")
        again = client.post("/api/runs", json={"question": QUESTION})
        llm.free.set()
    assert refused.status_code == 429
    assert "2 runs already" in refused.json()["error"]["message"]
    assert again.status_code == 202


def test_a_stopped_run_calls_no_model_any_more(tmp_path: Path) -> None:
    with held_server(tmp_path) as (running, llm), running.client() as client:
        run = start(client)
        until(llm.called.is_set)
        stopped = client.post(f"/api/runs/{run['id']}/stop").json()
        events = events_in(client.get(run["events"]).text)
        calls = len(llm.requests)
        llm.free.set()
        until(lambda: run_of_id(run["id"]).status == "stopped")
        assert client.post(f"/api/runs/{run['id']}/stop").status_code == 202
    assert stopped["state"] == "stopped"
    assert events[-1][1] == "stopped"
    assert len(llm.requests) == calls


def test_a_run_without_a_client_ends_after_the_grace_period(tmp_path: Path) -> None:
    with held_server(tmp_path, grace_seconds=0.2) as (running, _), running.client() as client:
        with client.stream("POST", "/api/ask", json={"question": QUESTION}, headers=EVENTS) as stream:
            run = running.services.runs.get(stream.headers["x-run-id"])
            assert run is not None
            until(lambda: run.watched or run.over)  # on a busy machine it may end before it is watched
        until(lambda: run.over)
    assert run.state == "stopped"


def test_a_client_that_wants_one_object_and_leaves_ends_its_run(tmp_path: Path) -> None:
    body = json.dumps({"question": QUESTION}).encode()
    with held_server(tmp_path) as (running, llm):
        head = f"POST /api/ask HTTP/1.1\r\nHost: 127.0.0.1:{running.port}\r\nContent-Type: application/json\r\n"
        import socket

        with socket.create_connection(("127.0.0.1", running.port)) as connection:
            connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            until(llm.called.is_set)
        until(lambda: all(run.over for run in running.services.runs.all()))
        assert [str(run.state) for run in running.services.runs.all()] == ["stopped"]


def test_after_a_restart_a_run_is_found_in_its_trace(tmp_path: Path) -> None:
    with running_server(tmp_path) as running, running.client() as client:
        run = start(client)
        live = events_in(client.get(run["events"]).text)
    with running_server(tmp_path / "again") as running, running.client() as client:
        kept = events_in(client.get(run["events"]).text)
        found = client.get(f"/api/runs/{run['id']}").json()
        listed = client.get("/api/runs", params={"q": "sunday bridge"}).json()["runs"]
    assert [name for _, name, _ in kept] == ["final"]
    assert {**kept[-1][2], "at": 0} == {**live[-1][2], "at": 0}
    assert found["answer"]["short_answer"] == "Edda Holm"
    assert [one["id"] for one in listed] == [run["id"]]


def test_a_trace_tells_how_a_run_failed(tmp_path: Path) -> None:
    def fail(request: ChatRequest) -> None:
        raise LLMUnreachable("No server replied to ada@example.org.", hint="Ask ada@example.org.")

    with running_server(tmp_path, backends={"failing": PlayingLLM(fail)}) as running, running.client() as client:
        run = start(client)
        live = events_in(client.get(run["events"]).text)
        pages = [client.get(f"/runs/{run['id']}").text]
    with running_server(tmp_path / "again") as running, running.client() as client:
        kept = events_in(client.get(run["events"]).text)
        found = client.get(f"/api/runs/{run['id']}").json()
        pages.append(client.get(f"/runs/{run['id']}").text)
    assert [name for _, name, _ in (live[-1], *kept)] == ["failed"] * 2
    told = live[-1][2]["error"]
    assert (told["code"], told["message"]) == ("LLMUnreachable", "The server of the language model cannot be reached.")
    assert [kept[-1][2]["error"], found["error"]] == [told, told]
    for page in pages:
        assert told["message"] in page
        assert "ada@example.org" not in page
