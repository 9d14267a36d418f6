"""The cases of a qualification, read from `cases.toml`, and whether a player of a role did in one what it asks for."""

from __future__ import annotations

import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from pydantic import TypeAdapter

from iterative_rag.errors import LLMError, LLMTimeout
from iterative_rag.protocols import Roles
from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Fact, Inquiry, Known, Need, Needs, Window

# The roles that the built-in models play, too, in the order in which a model is tested.
RIVALLED = ("read", "decline", "plan", "check", "answer")
# What else is tested of a model that plays every role; it drives the strategy `agent`.
EXTRACT, WINDOW, DRIVE = "extract", "window", "drive"


@dataclass(frozen=True, slots=True)
class RoleCase:
    """One call of a role; the file says what the fields mean."""

    id: str
    role: str
    expect: tuple[str, ...]
    never: str = ""
    question: str = ""
    title: str = ""
    sentences: tuple[str, ...] = ()
    facts: tuple[tuple[str, str, str], ...] = ()
    documents: tuple[tuple[str, str], ...] = ()
    needs: tuple[str, ...] = ()

    @property
    def inquiry(self) -> Inquiry:
        facts = tuple(
            Fact(said, said, value, f"case-{n}", "Notes", f"case-{n}.md", 0, len(said), Need(need), 1.0)
            for n, (need, said, value) in enumerate(self.facts)
        )
        return Inquiry(self.question, self.question, facts, tuple(fact.need for fact in facts))

    def accepts(self, said: str) -> bool:
        """Whether this is what the role should say; "" for an abstention."""
        if self.never and re.search(self.never, said):
            return False
        return all(re.search(pattern, said) for pattern in self.expect) and bool(said) == bool(self.expect)


@cache
def cases() -> tuple[RoleCase, ...]:
    """The cases of the package."""
    held = tomllib.loads(resources.files(__package__).joinpath("cases.toml").read_text(encoding="utf-8"))
    return (*TypeAdapter(tuple[RoleCase, ...]).validate_python(held["case"]), *_windows(held["window"]))


def _windows(held: Mapping[str, Any]) -> Iterator[RoleCase]:
    """A sentence in the middle of filler: how long may a window be for the model to find it?"""
    filler = [f"{sentence}." for sentence in held["filler"].split(". ") if sentence]
    for size in held["sizes"]:
        lines = filler * (size // len(held["filler"]))
        lines.insert(len(lines) // 2, held["sentence"])
        document = (held["title"], " ".join(lines))
        yield RoleCase(f"window-{size}", WINDOW, (held["expect"],), needs=(held["need"],), documents=(document,))


# --- running them ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CaseResult:
    """What came of a case; `told` is what the player said, or why it could say nothing."""

    id: str
    role: str
    right: bool
    told: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Player:
    """Who plays the roles. `read` gives the value that the text of a case states, and `drive` the answer to its
    question out of its documents; "" for none."""

    roles: Roles
    read: Callable[[RoleCase], str]
    drive: Callable[[RoleCase], str]


def run_case(case: RoleCase, player: Player) -> CaseResult:
    """One case. A reply that cannot be used fails it, and so does one that takes too long. Raises CapReached, and
    LLMError where the server failed, which says nothing of the model."""
    began = time.monotonic()
    try:
        told = _SAID[case.role](player, case)
        right = case.accepts(told)
    except LLMError as error:
        if error.fatal or (error.retryable and not isinstance(error, LLMTimeout)):
            raise
        told, right = str(error), False
    return CaseResult(case.id, case.role, right, told or "nothing", round(time.monotonic() - began, 1))


def _planned(player: Player, case: RoleCase) -> str:
    analysis = player.roles.analyst.analyse(case.inquiry)
    if isinstance(analysis, Needs):
        return "; ".join(need.question for need in analysis.needs)
    return "known" if isinstance(analysis, Known) else "stuck"


def _checked(player: Player, case: RoleCase) -> str:
    """The number of the best document."""
    scores = [grade.score for grade in player.roles.grader.grade(Need(case.question), case.documents)]
    best = max(scores)
    return str(scores.index(best) + 1) if scores.count(best) == 1 else "none is best"


def _answered(player: Player, case: RoleCase) -> str:
    draft = player.roles.answerer.answer(case.inquiry)
    return draft.short_answer or draft.text if draft.answered else ""


def _extracted(player: Player, case: RoleCase) -> str:
    """Each value under the number of its need, from a quote that stands in its document."""
    windows = [Window(title, title, f"{title}.md", ((0, len(text)),), text) for title, text in case.documents]
    extracts = player.roles.extractor.extract([Need(need) for need in case.needs], windows, "")
    standing = [
        extract
        for extract in extracts
        if extract.value and locate(extract.quote, (text := windows[extract.window].text), [(0, len(text))])
    ]
    return "; ".join(f"{n + 1}: {extract.value}" for extract in standing for n in extract.needs)


_SAID: dict[str, Callable[[Player, RoleCase], str]] = {
    "plan": _planned,
    "read": lambda player, case: player.read(case),
    "decline": lambda player, case: player.read(case),
    "check": _checked,
    "answer": _answered,
    EXTRACT: _extracted,
    WINDOW: _extracted,
    DRIVE: lambda player, case: player.drive(case),
}
