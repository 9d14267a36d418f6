"""Roles that follow a script: enough to drive the loop without a model."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from iterative_rag.protocols import Extractor, Roles
from iterative_rag.types import (
    Analysis,
    Draft,
    Extract,
    Fact,
    Grade,
    Inquiry,
    Known,
    Label,
    Need,
    Plan,
    Reflection,
    Rewording,
    Window,
)


@dataclass
class Quoting:
    """Extracts the first sentence of every window that holds one of `words`; counts and delays its calls."""

    words: Sequence[str]
    latency: float = 0.0
    value: str | None = None  # of every extract; None: the window's title
    fingerprint: str = "quoting/1"
    calls: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    busy: int = 0
    most_busy: int = 0

    def extract(self, needs: Sequence[Need], windows: Sequence[Window], question: str) -> tuple[Extract, ...]:
        """For all needs alike."""
        with self.lock:
            self.calls += [window.title for window in windows]
            self.busy += 1
            self.most_busy = max(self.most_busy, self.busy)
        time.sleep(self.latency)
        with self.lock:
            self.busy -= 1
        serves = tuple(range(len(needs)))
        return tuple(
            Extract(sentence, sentence, window.title if self.value is None else self.value, needs=serves, window=place)
            for place, window in enumerate(windows)
            for sentence in [window.text.split(".")[0] + "."]
            if any(word in window.text for word in self.words)
        )


@dataclass
class Scripted:
    """Plays analyst, rephraser and answerer from functions of the inquiry."""

    analysis: Callable[[Inquiry], Analysis] = lambda inquiry: Known()
    rephrasing: Callable[[Inquiry, Sequence[Fact]], str] = lambda inquiry, found: inquiry.question
    draft: Callable[[Inquiry], Draft] = lambda inquiry: Draft(
        bool(inquiry.facts), "The answer [1].", "answer", (0,) if inquiry.facts else (), "everything", 0.9
    )
    seen: list[Inquiry] = field(default_factory=list)
    last_attempts: int = 0
    advice: list[str] = field(default_factory=list)
    drafted: list[Inquiry] = field(default_factory=list)

    def analyse(self, inquiry: Inquiry) -> Analysis:
        self.seen.append(inquiry)
        return self.analysis(inquiry)

    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        return self.rephrasing(inquiry, found)

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        self.last_attempts += last_attempt
        self.advice.append(advice)
        self.drafted.append(inquiry)
        return self.draft(inquiry)


@dataclass
class Grading:
    """Grades texts by the first of `scores` whose key stands in title or text; what none names is Awful."""

    scores: dict[str, float] = field(default_factory=dict)

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        return tuple(self._grade(f"{title} {text}") for title, text in texts)

    def _grade(self, text: str) -> Grade:
        score = next((score for key, score in self.scores.items() if key in text), 0.0)
        return Grade(score, Label.PERFECT if score > 0.7 else Label.AWFUL if score < 0.3 else Label.POOR, "so it says")


@dataclass
class Wording:
    """Rewords every need the same way."""

    phrasings: tuple[str, ...] = ()

    def reword(self, need: Need, tried: Sequence[str]) -> Rewording:
        return Rewording(self.phrasings)

    def web_query(self, need: Need) -> str:
        return need.question.rstrip("?")


@dataclass
class Planning:
    """Gives its plans one after the other, the last again and again."""

    plans: Sequence[Plan] = (Plan(()),)
    seen: list[Inquiry] = field(default_factory=list)

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        self.seen.append(inquiry)
        return self.plans[min(len(self.seen), len(self.plans)) - 1]


@dataclass
class Reflecting:
    """Says what it is told to, one after the other, then that all is well."""

    said: list[Reflection] = field(default_factory=list)

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        return self.said.pop(0) if self.said else Reflection(())


def roles_of(script: Scripted, extractor: Extractor, **others: Any) -> Roles:
    """Roles of a run: `script` plays those of the loop, the rest do nothing remarkable unless they are given."""
    corrective = {"grader": Grading(), "rewriter": Wording(), "planner": Planning()}
    return Roles(script, extractor, script, script, **{**corrective, "reflector": Reflecting(), **others})
