"""Values of correction and reflection: grades and verdicts, rewordings, plans, claims."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


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
class Sufficiency:
    """Whether the facts suffice to answer; if not, `gap` is the missing fact as a question that can be looked up."""

    enough: bool
    gap: str = ""
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
