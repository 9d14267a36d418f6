"""Breaks a share of the honest replies of `fakes/bridge_world.py`, or answers with a status of overload instead."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fakes import bridge_world
from fakes.model_server import Fault

# Every way in which a model's reply is not what was asked for; each gets the honest reply.
BROKEN: Mapping[str, Callable[[str], str]] = {
    "empty": lambda text: "",
    "blank": lambda text: "\n\n  \n",
    "prose": lambda text: "I am sorry, I have looked at this and I am not sure what I should do with it.",
    "fenced": lambda text: f"Sure! Here it is:\n```json\n{text}\n```\nDo you want more?",
    "cut": lambda text: text[: len(text) // 2],
    "wrong types": lambda text: '{"status": 7, "needs": {"a": 1}, "facts": 3, "question": {"x": []}, "grades": 5}',
    "html": lambda text: "<html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>",
    "repeating": lambda text: "the answer is the answer is " * 60,
    "wrong schema": lambda text: '{"result": {"items": [], "ok": true}}',
    "null": lambda text: "null",
    "null facts": lambda text: '{"facts": null, "status": null, "question": null}',
    "thoughts only": lambda text: "<think>They ask me for a JSON object, so I will write",
}
STATUSES = (500, 503)


@dataclass
class Faults:
    """Breaks a share of what a server says, by a seed. Safe to use from the server's threads."""

    kind: str = "none"  # "none", "replies" or "status"
    share: float = 0.0
    seed: int = 0
    made: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._lock = threading.Lock()

    def reply(self, body: Mapping[str, Any]) -> str:
        """The honest reply to a request, or what becomes of it."""
        text = bridge_world.reply(body)
        name = self._drawn("replies", list(BROKEN))
        return BROKEN[name](text) if name else text

    def status(self, body: Mapping[str, Any]) -> Fault | None:
        name = self._drawn("status", [str(status) for status in STATUSES])
        return Fault("status", int(name), "overloaded") if name else None

    def _drawn(self, kind: str, names: Sequence[str]) -> str:
        with self._lock:
            if kind != self.kind or self._random.random() >= self.share:
                return ""
            name = self._random.choice(names)
            self.made[name] += 1
            return name
