"""The descriptions of the HTTP door are those of what it does."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from jsonschema import Draft202012Validator
from starlette.routing import Route

from fakes.running_server import RunningServer, events_in
from fakes.two_article_corpus import QUESTION
from iterative_rag.registry import STRATEGIES
from iterative_rag.serve.api.door import http_door
from iterative_rag.serve.runs.run_request import FIELDS, LIMITS
from iterative_rag.settings import PRESETS

ROOT = Path(__file__).resolve().parents[2]


def test_every_route_is_described(served: RunningServer) -> None:
    with served.client() as client:
        described = client.get("/api/openapi.json").json()["paths"]
    routes = {
        (route.path, method.lower())
        for route in http_door(served.services).routes
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert {(path, method) for path, methods in described.items() for method in methods} == routes


def test_what_a_question_may_say_is_described(served: RunningServer) -> None:
    with served.client() as client:
        question = client.get("/api/openapi.json").json()["components"]["schemas"]["Question"]["properties"]
    assert set(question) == FIELDS
    assert set(question["limits"]["properties"]) == set(LIMITS)
    assert question["strategy"]["enum"] == list(STRATEGIES.offered)
    assert question["preset"]["enum"] == list(PRESETS)


def test_the_schema_of_the_events_is_that_of_the_types() -> None:
    command = [sys.executable, "-m", "scripts.make_event_schema", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_events_follow_their_schema(served: RunningServer) -> None:
    with served.client() as client:
        schema = client.get("/api/events.schema.json").json()
        events = [
            event
            for strategy in ("iterative", "naive", "agent")
            for event in events_in(
                client.post(
                    "/api/ask",
                    json={"question": QUESTION, "strategy": strategy},
                    headers={"accept": "text/event-stream"},
                ).text
            )
        ]
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    wrong = [
        f"{name}: {error.message} {json.dumps(data)[:300]}"
        for _, name, data in events
        for error in validator.iter_errors({name: data})
    ]
    assert wrong == []
    names = {name for _, name, _ in events}
    assert {"queued", "started", "analysis", "shortlist", "reading", "final", "failed"} <= names
