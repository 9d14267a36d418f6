"""The queue, stopping, streams that are lost and found again, and clients that go away; on real sockets."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from fakes.running_server import PlayingLLM, RunningServer, events_in, running_server
from fakes.two_article_corpus import QUESTION
from iterative_rag.errors import LLMUnreachable
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.storage.past_runs import PastRun, read_run, run_of_id
from iterative_rag.storage.trace import trace_folder

EVENTS = {"accept": "text/event-stream"}
PATIENCE = 30.0


class HeldLLM(PlayingLLM):
    """Every call waits until it is let go, in short steps, as a stream that is read in chunks."""

    def __init__(self) -> None:
        super().__init__(self._wait)
        self.free, self.called = threading.Event(), threading.Event()
        self.frees_at_the_end = True

    def _wait(self, request: ChatRequest) -> None:
        self.called.set()
        assert self.free.wait(PATIENCE)


@contextmanager
def held_server(folder: Path, **options: Any) -> Iterator[tuple[RunningServer, HeldLLM]]:
    llm = HeldLLM()
    with running_server(folder, backends={"held": llm}, **options) as running:
        try:
            yield running, llm
        finally:
            if llm.frees_at_the_end:
                llm.free.set()


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


def test_a_place_in_line_comes_as_an_event(tmp_path: Path) -> None:
    with held_server(tmp_path, runs_at_once=1) as (running, llm), running.client() as client:
        runs = [start(client) for _ in range(3)]
        with client.stream("GET", runs[2]["events"]) as stream:
            lines = stream.iter_lines()
            until(lambda: '"place":2' in next(lines))
            client.post(f"/api/runs/{runs[1]['id']}/stop")
            until(lambda: '"place":1' in next(lines))
            llm.free.set()
            assert any("event: final" in line for line in lines)


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


def test_an_observer_that_fails_costs_no_thread(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    def observe(run: object) -> None:
        raise OSError("the counter is broken")

    with held_server(tmp_path, runs_at_once=1) as (running, llm), running.client() as client:
        running.services.runs.observe(observe)
        stopped = start(client)
        until(llm.called.is_set)
        assert client.post(f"/api/runs/{stopped['id']}/stop").status_code == 202
        llm.free.set()
        assert events_in(client.get(start(client)["events"]).text)[-1][1] == "final"
    assert "the counter is broken" in caplog.text


def test_a_run_without_a_client_ends_after_the_grace_period(tmp_path: Path) -> None:
    with held_server(tmp_path, grace_seconds=0.2) as (running, _), running.client() as client:
        with client.stream("POST", "/api/ask", json={"question": QUESTION}, headers=EVENTS) as stream:
            run = running.services.runs.get(stream.headers["x-run-id"])
            assert run is not None
            until(lambda: run.watched or run.over)  # on a busy machine it may end before it is watched
        until(lambda: run.over)
    assert run.state == "stopped"


def test_a_run_that_nobody_ever_watched_ends_too(tmp_path: Path) -> None:
    with held_server(tmp_path, grace_seconds=0.1) as (running, _), running.client() as client:
        run = start(client)
        live = running.services.runs.get(run["id"])
        assert live is not None
        assert live.wait(PATIENCE)
        assert live.state == "stopped"


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


def test_a_lost_stream_goes_on_where_it_broke_off(tmp_path: Path) -> None:
    with held_server(tmp_path) as (running, llm), running.client() as client:
        run = start(client)
        with client.stream("GET", run["events"]) as stream:
            assert any("event: started" in line for line in stream.iter_lines())
        llm.free.set()
        rest = events_in(client.get(run["events"], headers={"last-event-id": "2"}).text)
    assert rest[0][0] > 2
    assert rest[-1][1] == "final"
    assert "started" not in {name for _, name, _ in rest}


def test_after_a_restart_a_run_is_found_in_its_trace(tmp_path: Path) -> None:
    with running_server(tmp_path) as running, running.client() as client:
        run = start(client)
        live = events_in(client.get(run["events"]).text)
    with running_server(tmp_path / "again") as running, running.client() as client:
        kept = events_in(client.get(run["events"]).text)
        found = client.get(f"/api/runs/{run['id']}").json()
        listed = client.get("/api/runs", params={"q": "sunday bridge"}).json()["runs"]
    steps = [one for one in live if one[1] not in ("queued", "started", "progress")]
    assert [(number, name) for number, name, _ in kept] == [(number, name) for number, name, _ in steps]
    assert {**kept[-1][2], "at": 0} == {**steps[-1][2], "at": 0}
    assert found["answer"]["short_answer"] == "Edda Holm"
    assert [one["id"] for one in listed] == [run["id"]]


def test_a_stream_that_was_lost_goes_on_in_the_trace(tmp_path: Path) -> None:
    with held_server(tmp_path) as (running, llm), running.client() as client:
        run = start(client)
        until(llm.called.is_set)
        heard = running.services.runs.get(run["id"])
        assert heard is not None
        before = heard.last_number  # of an event between two steps, which no trace holds
        llm.free.set()
        live = events_in(client.get(run["events"]).text)
    with running_server(tmp_path / "again") as running, running.client() as client:
        rest = events_in(client.get(run["events"], headers={"last-event-id": str(before)}).text)
        after = client.get(run["events"], headers={"last-event-id": str(rest[-1][0])})
    assert [name for _, name, _ in rest] == [name for number, name, _ in live if number > before and name != "progress"]
    assert rest[-1][1] == "final"
    assert after.status_code == 204


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
    assert [(number, name) for number, name, _ in (live[-1], kept[-1])] == [(live[-1][0], "failed")] * 2
    told = live[-1][2]["error"]
    assert (told["code"], told["message"]) == ("LLMUnreachable", "The server of the language model cannot be reached.")
    assert [kept[-1][2]["error"], found["error"]] == [told, told]
    for page in pages:
        assert told["message"] in page
        assert "ada@example.org" not in page


def test_a_run_that_was_interrupted_on_the_command_line_counts_as_stopped(served: RunningServer) -> None:
    with served.client() as client:
        run_id = client.post("/api/ask", json={"question": QUESTION}).json()["run_id"]
        trace = trace_folder() / f"{run_id}.jsonl"
        whole = trace.read_text(encoding="utf-8").splitlines()
        fault = json.dumps({"event": "fault", "error": "KeyboardInterrupt", "message": ""})
        interrupted = "2026-01-01T00-00-00-interrupted"
        trace.with_stem(interrupted).write_text("\n".join([*whole[:-1], fault, ""]), encoding="utf-8")
        assert client.get(f"/api/runs/{interrupted}").json()["state"] == "stopped"
        assert "Stopped." in client.get(f"/runs/{interrupted}").text


def test_runs_over_corpora_that_are_not_served_are_nobodys_to_see(tmp_path: Path) -> None:
    with running_server(tmp_path) as running, running.client() as client:
        run = start(client)
        client.get(run["events"])
    with running_server(tmp_path / "again", corpora=("rivers",)) as running, running.client() as client:
        listed = client.get("/api/runs").json()["runs"]
        codes = [client.get(f"/api/runs/{run['id']}{part}").status_code for part in ("", "/events")]
    assert listed == []
    assert codes == [404, 404]


def test_a_server_that_stops_tells_who_is_watching(tmp_path: Path) -> None:
    told: list[str] = []
    with held_server(tmp_path) as (running, llm):
        client = running.client()
        run = start(client)

        def watch() -> None:
            told.extend(name for _, name, _ in events_in(client.get(run["events"]).text))

        watching = threading.Thread(target=watch)
        watching.start()
        until(llm.called.is_set)
        live = running.services.runs.get(run["id"])
        assert live is not None
        until(lambda: live.watched)

        def free() -> None:
            """The model answers only once the server has told its runs to stop."""
            until(live.stopped.is_set)
            llm.free.set()

        freeing = threading.Thread(target=free)
        freeing.start()
        llm.frees_at_the_end = False
    freeing.join(PATIENCE)
    watching.join(PATIENCE)
    client.close()
    assert told[-1:] == ["stopped"]


class WritingLLM(PlayingLLM):
    """Writes a first answer, is cut off, writes another one in two pieces, and goes on when it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.free = threading.Event()

    def complete(self, request: ChatRequest) -> ChatReply:
        reply = super().complete(request)
        if request.written:
            for text in ('{"answer": "Nobody kn', reply.text[:60], reply.text):
                request.written(text)
            assert self.free.wait(PATIENCE)
        return reply


def test_the_text_of_the_answer_comes_while_it_is_written(tmp_path: Path) -> None:
    llm = WritingLLM()
    with running_server(tmp_path, backends={"writing": llm}) as running, running.client() as client:
        run, shown, names = start(client), "", list[str]()
        with client.stream("GET", run["events"]) as stream:
            for line in stream.iter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    names.append(value)
                elif name == "data" and names[-1] == "text":
                    told = json.loads(value)
                    shown = shown[: told["start"]] + told["text"]
                if shown == "The mayor of Aldermere [1] is Edda Holm [2].":
                    llm.free.set()
    assert llm.free.is_set()
    assert names.index("withdrawn") < names.index("answering") < names.index("final")


@pytest.mark.parametrize("path", ["/api/runs/none", "/api/runs/none/events", "/api/runs/20", "/api/runs/last"])
def test_no_such_run(served: RunningServer, path: str) -> None:
    with served.client() as client:
        assert client.get(path).status_code == 404


def test_a_trace_is_read_once_for_lists_and_again_when_it_changes(
    served: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def counted(path: Path) -> PastRun:
        read.append(path.stem)
        return read_run(path)

    monkeypatch.setattr("iterative_rag.serve.runs.shown_run.read_run", counted)
    with served.client() as client:
        ids = [client.post("/api/ask", json={"question": QUESTION}).json()["run_id"] for _ in range(2)]

        def found(words: str) -> list[str]:
            return [run["id"] for run in client.get("/api/runs", params={"q": words}).json()["runs"]]

        assert set(ids) <= set(found("edda HOLM"))
        read.clear()
        assert set(ids) <= set(found("sunday bridge"))
        assert found("nobody") == []
        assert client.get("/history", params={"q": "mayor"}).text.count("run-line") >= 2
        assert read == []
        trace = trace_folder() / f"{ids[0]}.jsonl"
        trace.write_text(trace.read_text(encoding="utf-8").replace("Edda Holm", "Otto Brask"), encoding="utf-8")
        assert found("otto brask") == [ids[0]]
        assert read == [ids[0]]
        trace.unlink()
        assert ids[0] not in found("")
