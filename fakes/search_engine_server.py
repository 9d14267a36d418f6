"""A search engine on loopback that answers what a test tells it to, right or wrong, and keeps what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fakes.loopback_server import Handler, serving


@dataclass(frozen=True)
class CannedReply:
    """One answer. `length` is what the headers promise if they lie; `hang` waits for the end of the test."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    hang: bool = False


def json_reply(value: object, status: int = 200, **headers: str) -> CannedReply:
    return CannedReply(
        json.dumps(value).encode(), status, {name.replace("_", "-"): text for name, text in headers.items()}
    )


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass
class FakeSearchEngine:
    """Answers are used up in order; the last one stays."""

    answers: list[CannedReply]
    asked: list[Asked] = field(default_factory=list)
    url: str = ""
    closing: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def take(self, asked: Asked) -> CannedReply:
        self.asked.append(asked)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def answering(*answers: CannedReply) -> Iterator[FakeSearchEngine]:
    stand_in = FakeSearchEngine(list(answers))

    class Engine(Handler):
        protocol_version = "HTTP/1.0"  # a reply that is shorter than it says ends with the connection

        def do_GET(self) -> None:
            self._answer(None)

        def do_POST(self) -> None:
            self._answer(json.loads(self.body()))

        def _answer(self, body: Any) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
            answer = stand_in.take(Asked(self.command, parts.path, query, dict(self.headers), body))
            if answer.hang:
                stand_in.closing.wait(30)
                return
            length = {} if answer.length is None else {"Content-Length": str(answer.length)}
            self.send(answer.body, answer.status, {**answer.headers, **length})

    with serving(Engine) as host:
        stand_in.url = f"http://{host}"
        try:
            yield stand_in
        finally:
            stand_in.closing.set()
