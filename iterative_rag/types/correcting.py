"""Values of correction and reflection: grades and verdicts, rewordings, plans, claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from textwrap import shorten


class Label(StrEnum):
    """How well a text serves a need, as a label."""

    AWFUL = "Awful"  # about something else
    POOR = "Poor"  # related, without what the need asks for
    GOOD = "Good"  # holds the essential part of it
    PERFECT = "Perfect"  # holds all of it


@dataclass(frozen=True, slots=True)
class Grade:
    """How well a text serves a need: a score from 0 to 1, its label, and the reason in one line."""

    score: float
    label: Label
    reason: str = ""


# A label's score. A best grade of Awful means incorrect, Poor ambiguous, the rest correct.
SCORES: Mapping[Label, float] = {Label.AWFUL: 0.0, Label.POOR: 0.5, Label.GOOD: 0.8, Label.PERFECT: 1.0}
# The bounds of the label Poor, and of the verdict ambiguous: a best grade below the first means that the corpus does
# not have the answer to the need, one above the second that it has.
GRADE_LOWER, GRADE_UPPER = 0.3, 0.7
_GOOD_TO = 0.9
LONGEST_REASON = 200


def labelled(label: Label, reason: str) -> Grade:
    """The grade of a label, its reason on one line."""
    return Grade(SCORES[label], label, shorten(reason, LONGEST_REASON, placeholder=" ..."))


def scored(score: float, reason: str) -> Grade:
    """The grade of a score from 0 to 1, its reason on one line."""
    if score < GRADE_LOWER:
        label = Label.AWFUL
    elif score <= GRADE_UPPER:
        label = Label.POOR
    else:
        label = Label.GOOD if score <= _GOOD_TO else Label.PERFECT
    return Grade(score, label, shorten(reason, LONGEST_REASON, placeholder=" ..."))


class Verdict(StrEnum):
    """What the grades of a shortlist amount to (Yan et al., 2024, corrective RAG)."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Rewording:
    """Other ways to search for a need: phrasings, a broader question (step-back prompting), and a hypothetical passage
    that might answer it (HyDE). The passage is only used as a query and never quoted.
    """

    phrasings: tuple[str, ...] = ()
    broader: str = ""
    passage: str = ""


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result of a web search: an address whose page has not been read yet."""

    title: str
    url: str
    snippet: str = ""


class PlanTool(StrEnum):
    """What carries out a step of a plan."""

    SEARCH = "search"  # the corpus is searched and read
    WEB = "web"  # the web, where the user allows it; else the corpus
    CALCULATE = "calculate"  # `question` is an expression for `computing`


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step of a plan: a question that can be looked up now, or an expression, and what it is for. `facts` are what an
    expression is computed from, as in Computation."""

    question: str
    purpose: str = ""
    tool: PlanTool = PlanTool.SEARCH
    facts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps that are left, in order; none when the question can be answered."""

    steps: tuple[PlannedStep, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim of an answer: whether facts prove it, and which. `facts`: as in Computation."""

    text: str
    grounded: bool
    facts: tuple[int, ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Reflection:
    """The check of a draft: its claims, whether it answers the question (`useful`), whether it only refuses to answer,
    which premise of the question is false, and which fact to look up next (`gap`).
    """

    claims: tuple[Claim, ...]
    useful: bool = True
    refusal: bool = False
    false_premise: str = ""
    gap: str = ""

    @property
    def grounded(self) -> bool:
        """Whether every claim is proved."""
        return all(claim.grounded for claim in self.claims)
