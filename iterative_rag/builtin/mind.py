"""The built-in mind: a grammar splits the question, rules read, and every call derives its state from the inquiry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.builtin.answering import compose
from iterative_rag.builtin.grammar import parse
from iterative_rag.builtin.pages import page
from iterative_rag.builtin.query import read_query
from iterative_rag.builtin.reader import Reader, RuleReader
from iterative_rag.builtin.reasoning import Evaluation
from iterative_rag.builtin.rephrasing import rephrased
from iterative_rag.protocols import Embedder, Meter, Roles
from iterative_rag.types import Analysis, Draft, Extract, Fact, Inquiry, Known, Need, Needs, Stuck, Window

# Extracts below this trust are not worth showing to anyone.
FLOOR = 0.3
# The reader's score at which a finding is more likely right than wrong: it becomes 0.5.
EVEN = 0.72


class BuiltinMind:
    """Plays all four roles without an LLM. `reader` may be swapped for a trained one."""

    name = "builtin"
    thrifty = False

    def __init__(self, embedder: Embedder, reader: Reader | None = None) -> None:
        self._reader = reader or RuleReader(embedder)

    def roles(self, meter: Meter) -> Roles:
        """The meter stays unused: nothing here costs a call."""
        return Roles(BuiltinAnalyst(), BuiltinExtractor(self._reader), BuiltinRephraser(), BuiltinAnswerer())


def calibrated(score: float) -> float:
    """The reader's score as a trust: 0.5 at EVEN, straight lines to 0 and 1."""
    return 0.5 * score / EVEN if score < EVEN else 0.5 + 0.5 * (score - EVEN) / (1 - EVEN)


class BuiltinAnalyst:
    def analyse(self, inquiry: Inquiry) -> Analysis:
        outcome = Evaluation(inquiry).of(parse(inquiry.original))
        if outcome.values:
            return Known()
        if questions := outcome.needs or outcome.again:
            return Needs(tuple(Need(question) for question in questions))
        return Stuck(f"Not found: {'; '.join(outcome.missing) or inquiry.question}")


class BuiltinExtractor:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def fingerprint(self) -> str:
        return f"builtin/{self._reader.fingerprint}"

    def extract(self, need: Need, window: Window) -> tuple[Extract, ...]:
        findings = self._reader.read(read_query(need.question), page(window))
        return tuple(
            Extract(finding.statement, finding.quote, finding.value, round(calibrated(finding.score), 4))
            for finding in findings
            if calibrated(finding.score) >= FLOOR and finding.quote in window.text
        )


class BuiltinRephraser:
    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        known = set(inquiry.facts)
        grown = replace(inquiry, facts=(*inquiry.facts, *(fact for fact in found if fact not in known)))
        return rephrased(inquiry.original, parse(inquiry.original), Evaluation(grown))


class BuiltinAnswerer:
    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False) -> Draft:
        return compose(inquiry, parse(inquiry.original), Evaluation(inquiry))
