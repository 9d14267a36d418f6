"""The model's server of the targets: an honest model on loopback that fails as it is told."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from fakes import bridge_world
from fakes.model_server import FakeServer, Fault, Seen

MODEL = "tiny:1b"
_ASKED = re.compile(r"the (\w+) bridge stand|mayor of (\w+)\?")


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the model, as a fault is decided upon: its role ("" for none of the package's prompts), the user's
    message, its number from 0, and the request's body."""

    role: str
    user: str
    number: int
    body: Mapping[str, Any]


@dataclass
class ModelServer(FakeServer):
    """`fault` says of each call whether and how it goes wrong; besides the kinds of FakeServer "text" (the reply is the
    fault's `message`) and "half" (the reply is half of one). `spans` are the place asked about, begin and end
    (time.monotonic) of each call."""

    fault: Callable[[Call], Fault | None] = lambda call: None
    spans: list[tuple[str, float, float]] = field(default_factory=list)
    calls_made: int = 0
    faults_made: int = 0

    def __enter__(self) -> ModelServer:
        self.reply, self._at = self._said, threading.local()
        super().__enter__()
        return self

    def take(self, seen: Seen) -> Fault | None:
        self._at.place, self._at.fault = "", None
        if "messages" not in seen.body:
            return None
        user = bridge_world.user_prompt(seen.body)
        asked = _ASKED.search(user)
        with self._lock:
            fault = self.fault(Call(bridge_world.role_of(seen.body), user, self.calls_made, seen.body))
            self.calls_made += 1
            self.faults_made += fault is not None
        self._at.place, self._at.fault = next(filter(None, asked.groups()), "") if asked else "", fault
        return fault

    @contextmanager
    def holding(self) -> Iterator[None]:
        began, place = time.monotonic(), self._at.place
        with super().holding():
            yield
        if place:
            self.spans.append((place, began, time.monotonic()))

    def _said(self, body: Mapping[str, Any]) -> str:
        fault = self._at.fault
        text = fault.message if fault and fault.kind == "text" else bridge_world.reply(body)
        return text[: len(text) // 2] if fault and fault.kind == "half" else text
