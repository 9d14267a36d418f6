"""What the engine yields while it works: one type a step."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.types.correcting import Grade, Plan, Reflection, Rewording, SearchResult, Sufficiency, Verdict
from iterative_rag.types.documents import ShortlistedDocument
from iterative_rag.types.loop import Analysis, Fact, Need
from iterative_rag.types.outcomes import Answer, Draft


@dataclass(frozen=True, slots=True)
class AnalysisStep:
    hop: int
    question: str
    analysis: Analysis


@dataclass(frozen=True, slots=True)
class ShortlistStep:
    """`wider` says that this is the second, wider look after a hop that brought nothing."""

    hop: int
    need: Need
    documents: tuple[ShortlistedDocument, ...]
    wider: bool = False


@dataclass(frozen=True, slots=True)
class ReadingFault:
    """A window that could not be read, and why."""

    title: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadingStep:
    """`read` windows were read (`cached` of them from the cache), `skipped` were not started or not needed any more,
    `unanswered` were asked about without a reply before a limit of the run, `dropped` extracts had a quote that the
    document does not hold. `documents` are the ids of those that were read; `again` marks the second attempt at windows
    that could not be read before."""

    hop: int
    need: Need
    facts: tuple[Fact, ...]
    read: int
    cached: int
    skipped: int
    dropped: int
    faults: tuple[ReadingFault, ...] = ()
    documents: tuple[str, ...] = ()
    unanswered: int = 0
    again: bool = False


@dataclass(frozen=True, slots=True)
class PlanningStep:
    """A plan was made, or revised in the light of what was found."""

    hop: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class GradingStep:
    """The grade of each document of a shortlist, in its order, and the verdict on all."""

    hop: int
    need: Need
    titles: tuple[str, ...]
    grades: tuple[Grade, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class CorrectionStep:
    """A need was searched for in other words; `documents` are those that the first words had not listed."""

    hop: int
    need: Need
    rewording: Rewording
    documents: tuple[ShortlistedDocument, ...]


@dataclass(frozen=True, slots=True)
class WebStep:
    """The web was searched for a need: what was listed, what was read of it, and why the others were not."""

    hop: int
    need: Need
    engine: str
    query: str
    results: tuple[SearchResult, ...]
    documents: tuple[ShortlistedDocument, ...]
    skipped: tuple[ReadingFault, ...] = ()


@dataclass(frozen=True, slots=True)
class RefinementStep:
    """Documents cut to the strips that serve a need: how many were kept and dropped of all."""

    hop: int
    need: Need
    kept: int
    dropped: int


@dataclass(frozen=True, slots=True)
class RephrasingStep:
    hop: int
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AnsweringStep:
    """A draft, accepted or not. `last_attempt` marks the try at a cap."""

    hop: int
    draft: Draft
    last_attempt: bool = False


@dataclass(frozen=True, slots=True)
class SufficiencyStep:
    """The facts were looked at once more before answering."""

    hop: int
    sufficiency: Sufficiency


class Action(StrEnum):
    """What follows from a reflection."""

    ACCEPT = "accept"
    REGENERATE = "regenerate"
    SEARCH = "search"
    ABSTAIN = "abstain"


@dataclass(frozen=True, slots=True)
class ReflectionStep:
    hop: int
    reflection: Reflection
    action: Action


@dataclass(frozen=True, slots=True)
class DegradedStep:
    """The run went on without what a `role` would have said (rephrase, suffice, reflect), because its calls failed.

    `error` is the name of the error's type, `message` its sentence.
    """

    hop: int
    role: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class FinalStep:
    answer: Answer


Step = (
    AnalysisStep
    | PlanningStep
    | ShortlistStep
    | GradingStep
    | CorrectionStep
    | WebStep
    | RefinementStep
    | ReadingStep
    | RephrasingStep
    | SufficiencyStep
    | AnsweringStep
    | ReflectionStep
    | DegradedStep
    | FinalStep
)
