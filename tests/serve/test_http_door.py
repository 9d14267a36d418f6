"""Questions, runs, searches and documents over HTTP, on a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from starlette.routing import Route

from fakes.running_server import CORPUS, RunningServer, events_in
from fakes.two_article_corpus import QUESTION
from iterative_rag.serve.app import http_door

EVENTS = {"accept": "text/event-stream"}


def test_a_question_is_answered_as_one_object(served: RunningServer) -> None:
    with served.client() as client:
        answered = client.post("/api/ask", json={"question": QUESTION})
    assert answered.status_code == 200
    assert answered.json()["short_answer"] == "Edda Holm"
    assert answered.json()["run_id"] == answered.headers["x-run-id"]


def test_a_reload_finds_the_run_and_goes_on_after_the_last_event(served: RunningServer) -> None:
    with served.client() as client:
        run = client.post("/api/runs", json={"question": QUESTION}).json()
        whole = events_in(client.get(run["events"]).text)
        rest = events_in(client.get(run["events"], headers={"last-event-id": str(whole[-2][0])}).text)
        after = client.get(run["events"], headers={"last-event-id": str(whole[-1][0])})
        found = client.get(f"/api/runs/{run['id']}").json()
    assert rest == whole[-1:]
    assert after.status_code == 204
    assert (found["state"], found["short_answer"]) == ("done", "Edda Holm")


def test_documents_are_searched_listed_and_read(served: RunningServer) -> None:
    with served.client() as client:
        hits = client.get("/api/search", params={"q": "mayor of Aldermere", "limit": 2}).json()["hits"]
        titles = client.get("/api/documents", params={"corpus": CORPUS}).json()
        document = client.get(f"/api/documents/{hits[0]['document_id']}").json()
    assert hits[0]["title"] == "Aldermere"
    assert titles["total"] == 2
    assert document["text"][hits[0]["start"] : hits[0]["end"]] == hits[0]["text"]
    assert document["source"] == "Aldermere.md"


def test_a_request_is_kept_within_a_part_of_the_corpus(served: RunningServer) -> None:
    with served.client() as client:
        asked = {"question": QUESTION, "within": {"title": "Sunday bridge"}}
        within = client.post("/api/ask", json=asked)
        empty = client.post("/api/ask", json={"question": QUESTION, "within": {"title": "Nowhere"}})
        wrong = client.post("/api/ask", json={"question": QUESTION, "within": {"page": "1"}})
        hits = client.get("/api/search", params={"q": "mayor", "title": "Alder"}).json()["hits"]
        none = client.get("/api/search", params={"q": "mayor", "where": "author=Holm"})
        many = client.get("/api/search", params={"q": "mayor", "where": ["author=Holm"] * 21})
    assert "--title 'Sunday bridge' (1 of 2 documents)" in within.json()["corpus_notice"]
    assert {one["title"] for hop in within.json()["hops"] for one in hop["facts"]} <= {"Sunday bridge"}
    assert "No document matches --title Nowhere" in empty.json()["error"]["message"]
    assert [one.status_code for one in (empty, none)] == [404] * 2
    assert (wrong.status_code, "Unknown field 'page'" in wrong.text) == (400, True)
    assert {hit["title"] for hit in hits} == {"Aldermere"}
    assert (many.status_code, "at most 20" in many.text) == (400, True)


def test_corpora_health_and_figures_are_told(served: RunningServer) -> None:
    with served.client() as client:
        corpora = client.get("/api/corpora").json()
        assert client.get("/healthz").json()["status"] == "ok"
    assert [one["name"] for one in corpora["corpora"]] == [CORPUS]
    assert corpora["backends"] == ["playing"]


# --- descriptions ------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parents[2]


def test_every_route_is_described(served: RunningServer) -> None:
    with served.client() as client:
        described = client.get("/api/openapi.json").json()["paths"]
    routes = {
        (route.path.replace(":path}", "}"), method.lower())
        for route in http_door(served.services).routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {(path, method) for path, methods in described.items() for method in methods} == routes


def test_the_schema_of_the_events_is_that_of_the_types() -> None:
    command = [sys.executable, "-m", "scripts.make_event_schema", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_typed_steps_come_as_events_that_follow_their_schema(served: RunningServer) -> None:
    with served.client() as client:
        schema = client.get("/api/events.schema.json").json()
        asked = [{"question": QUESTION, "strategy": strategy} for strategy in ("iterative", "naive", "agent")]
        runs = [events_in(client.post("/api/ask", json=body, headers=EVENTS).text) for body in asked]
    assert [number for number, *_ in runs[0]] == sorted({number for number, *_ in runs[0]})
    assert runs[0][-1][1] == "final"
    assert runs[0][-1][2]["answer"]["citations"][1]["quote"] == "Its mayor is Edda Holm."
    events = [event for run in runs for event in run]
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    wrong = [
        f"{name}: {error.message} {json.dumps(data)[:300]}"
        for _, name, data in events
        for error in validator.iter_errors({name: data})
    ]
    assert wrong == []
    names = {name for _, name, _ in events}
    assert {"queued", "started", "analysis", "shortlist", "reading", "answering", "final", "failed"} <= names
