"""What correcting and reflecting say: grades and verdicts, rewordings, plans, claims."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Label(StrEnum):
    """How well a text serves a need, in words."""

    AWFUL = "Awful"  # about something else, or against it
    POOR = "Poor"  # near it, without what is essential
    GOOD = "Good"  # has what is essential
    PERFECT = "Perfect"  # has all of it


@dataclass(frozen=True, slots=True)
class Grade:
    """How well a text serves a need: `score` from 0 to 1, its label, and one line that says why."""

    score: float
    label: Label
    reason: str = ""


class Verdict(StrEnum):
    """What the grades of a shortlist come to (Yan et al., 2024, corrective RAG)."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Rewording:
    """Other ways to search for a need: phrasings, a broader question (step-back prompting), and a passage that might
    answer it (HyDE), which is only ever searched with."""

    phrasings: tuple[str, ...] = ()
    broader: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a web search engine lists: an address, not a document yet."""

    title: str
    url: str
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a plan: a look-up that can be made now, and what it is for."""

    question: str
    purpose: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps that are left to take, in order; none when the question can be answered."""

    steps: tuple[PlannedStep, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Sufficiency:
    """Whether the facts suffice to answer; if not, `gap` is the missing fact as a question that can be looked up."""

    enough: bool
    gap: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of an answer: whether facts prove it, and which (positions as in Computation)."""

    text: str
    grounded: bool
    facts: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reflection:
    """A draft looked at again: its claims, whether it answers the question that was asked (`useful`), whether it is a
    refusal in the guise of an answer, which premise is false, and what to look up next."""

    claims: tuple[Claim, ...]
    useful: bool = True
    refusal: bool = False
    false_premise: str = ""
    gap: str = ""

    @property
    def grounded(self) -> bool:
        return all(claim.grounded for claim in self.claims)
