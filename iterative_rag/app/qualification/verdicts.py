"""From what came out of the cases to who is better at each role, and to the settings of a profile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iterative_rag.app.qualification.cases import DRIVE, EXTRACT, RIVALLED, WINDOW, CaseResult, RoleCase

MODEL, BUILTIN, BOTH = "model", "builtin", "both"
# Without one of these a model does not play every role: its answers rest on its plans, and on what it did not make up.
_STRONG = ("decline", "plan", "answer")
# Those that are tested before the others, because the others may then not matter.
_BASIC = ("read", "decline", "plan")
# The built-in models take over a role in which they are right so many times more, and in such a share of the cases: one
# case is chance, and the cases are such as they mostly play well.
LEAD, LEAD_SHARE = 2, 0.25
# Cases of each of these that are asked before the rest, so that a verdict is there when the time is up.
FIRST = 3
# The longest window for a model that changes quotes or mixes up documents.
CAREFUL_WINDOW = 4000
# Documents that share a call of a model that keeps them apart.
DOCUMENTS_TOGETHER = 4
# Questions that a model without a defect answers by the strategy `agent`, which then costs the fewest calls.
DRIVEN = 2
# Seconds: a model that needs longer for a case gets a longer timeout, this many times its slowest case.
SLOW_CASE, TIMEOUT_FACTOR = 20.0, 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the cases that the model was asked so far, and of all that the built-in models play (`rivals`)."""

    results: tuple[CaseResult, ...]
    rivals: tuple[CaseResult, ...]

    def of(self, role: str) -> list[CaseResult]:
        return [result for result in self.results if result.role == role]

    def rival(self, role: str) -> list[CaseResult]:
        return [result for result in self.rivals if result.role == role]

    def scores(self, role: str) -> tuple[int, int, int]:
        """In how many cases the model and the built-in models were right, of those that both have played."""
        played = {result.id for result in self.of(role)}
        rivals = [result for result in self.rival(role) if result.id in played]
        return _right(self.of(role)), _right(rivals), len(played)

    def better(self, role: str) -> str:
        """Who is better at a role, by the cases that both have played; "" where there are none."""
        model, builtin, played = self.scores(role)
        return "" if not played else BUILTIN if builtin - model >= _lead(played) else MODEL

    def certain(self, role: str) -> str:
        """Who is better at a role whatever comes of its other cases; "" while that is open."""
        ahead, cases = _right(self.rival(role)) - _right(self.of(role)), len(self.rival(role))
        left = cases - len(self.of(role))
        return BUILTIN if ahead - left >= _lead(cases) else MODEL if ahead < _lead(cases) else ""

    @property
    def players(self) -> dict[str, str]:
        """Who is better at each role; where the model reads, but does not decline, both have to agree."""
        players = {role: self.better(role) for role in RIVALLED}
        if players["read"] == MODEL and players["decline"] == BUILTIN:
            players["read"] = BOTH
        return players

    @property
    def careful(self) -> str:
        """The setting of that name; "" where too little was tested."""
        players = self.players
        if players["read"] == BUILTIN:
            return BUILTIN
        if BUILTIN in map(players.get, _STRONG):
            return "on"
        return "off" if all(map(players.get, _BASIC)) else ""

    def wants(self, case: RoleCase) -> bool:
        """Whether a case, asked in the order of `in_order`, can change what `ask` does."""
        if case.role == WINDOW and any(result.right for result in self.of(WINDOW)):
            return False  # the longest comes first
        if case.role not in RIVALLED:
            return self.careful == "off"
        if case.role in _BASIC and len(self.of(case.role)) < FIRST:
            return True
        settled = self.certain("read") == BUILTIN or (BUILTIN in map(self.certain, _STRONG) and case.role != "read")
        return not settled and not self.certain(case.role)

    def settings(self) -> Iterator[tuple[str, Any]]:
        """The settings of the profile."""
        if self.careful:
            yield "careful", self.careful
        if self.careful == "off":
            if self.better("check") == BUILTIN:
                yield "grader", BUILTIN
            yield from self._reading()
        slowest = max((result.seconds for result in self.results[1:]), default=0.0)  # the first waits for the model
        if slowest > SLOW_CASE:
            yield "timeout", max(120.0, float(round(TIMEOUT_FACTOR * slowest)))

    def _reading(self) -> Iterator[tuple[str, Any]]:
        """How much is read in one call, as far as that was tested to its end."""
        read = [int(result.id.removeprefix("window-")) for result in self.of(WINDOW) if result.right]
        exact = all(result.right for result in self.of(EXTRACT))
        if read:
            yield "window_chars", max(read) if exact else min(*read, CAREFUL_WINDOW)
            yield "documents_per_call", DOCUMENTS_TOGETHER if exact else 1
        if exact and _right(self.of(DRIVE)) == DRIVEN:
            yield "strategy", "agent"


def in_order(cases: tuple[RoleCase, ...]) -> list[RoleCase]:
    """The first cases of the basic roles, the rest of them, the other roles that the built-in models play, too; last
    what only a model is asked that plays every role."""
    first = {case.id for role in _BASIC for case in [case for case in cases if case.role == role][:FIRST]}
    return sorted(cases, key=lambda case: (case.role not in RIVALLED, case.role not in _BASIC, case.id not in first))


def _lead(cases: int) -> float:
    return max(LEAD, LEAD_SHARE * cases)


def _right(results: list[CaseResult]) -> int:
    return sum(result.right for result in results)
