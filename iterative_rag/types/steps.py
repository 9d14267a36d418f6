"""What the engine yields while it works: one type for each kind of step; and what is told between the steps.

That is how far the run has come, and the answer while it is written, until a check takes it back.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.types.correcting import Grade, Plan, Reflection, Rewording, SearchResult, Verdict
from iterative_rag.types.documents import ShortlistedDocument
from iterative_rag.types.loop import Analysis, Fact, Need
from iterative_rag.types.outcomes import Answer, Draft, Status


@dataclass(frozen=True, slots=True)
class HopStep:
    """What happened in a hop, counted from 1."""

    hop: int


@dataclass(frozen=True, slots=True)
class NeedStep(HopStep):
    """What was done for a need."""

    need: Need


@dataclass(frozen=True, slots=True)
class AnalysisStep(HopStep):
    """The question of this hop was analysed. `known` are the facts that it began with, found by earlier questions."""

    question: str
    analysis: Analysis
    known: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class ShortlistStep(NeedStep):
    """The documents to read for a need, best first. `wider` marks the wider search after a hop that found nothing."""

    documents: tuple[ShortlistedDocument, ...]
    wider: bool = False


@dataclass(frozen=True, slots=True)
class ReadingFault:
    """A window that could not be read, and why."""

    title: str
    message: str


@dataclass(frozen=True, slots=True)
class ReadingStep(NeedStep):
    """The shortlist of a need was read.

    Counts of windows: `read` (of which `cached` came from the cache), `skipped` (not started, or no longer needed),
    `unanswered` (no reply before a limit of the run). `dropped` counts extracts whose quote is not in the document.
    `documents` are the ids of the documents read.
    """

    facts: tuple[Fact, ...]
    read: int
    cached: int
    skipped: int
    dropped: int
    faults: tuple[ReadingFault, ...] = ()
    documents: tuple[str, ...] = ()
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class PlanningStep(HopStep):
    """A plan was made, or revised in the light of what was found."""

    plan: Plan


@dataclass(frozen=True, slots=True)
class GradingStep(NeedStep):
    """The documents of a shortlist were graded, in their order, and the verdict on them all."""

    titles: tuple[str, ...]
    grades: tuple[Grade, ...]
    verdict: Verdict

    def __post_init__(self) -> None:
        if len(self.titles) != len(self.grades):
            raise ValueError(f"{len(self.titles)} documents have {len(self.grades)} grades")


@dataclass(frozen=True, slots=True)
class CorrectionStep(NeedStep):
    """A need was searched for in other words; `documents` are those that the first search had not listed, and those
    that it had listed with other parts of their text."""

    rewording: Rewording
    documents: tuple[ShortlistedDocument, ...]


@dataclass(frozen=True, slots=True)
class WebStep(NeedStep):
    """The web was searched for a need: the results, the pages that were read, and why the others were not."""

    engine: str
    query: str
    results: tuple[SearchResult, ...]
    documents: tuple[ShortlistedDocument, ...]
    skipped: tuple[ReadingFault, ...] = ()


@dataclass(frozen=True, slots=True)
class RephrasingStep(HopStep):
    """The question was rephrased with what this hop found."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AnsweringStep(HopStep):
    """A draft, accepted or not. `last_attempt` marks the one made when a limit was reached."""

    draft: Draft
    last_attempt: bool = False


class Action(StrEnum):
    """What the engine does after a reflection."""

    ACCEPT = "accept"
    REGENERATE = "regenerate"
    SEARCH = "search"
    ABSTAIN = "abstain"
    LEAVE_OUT = "leave_out"  # give the text without the sentences that are not proved


@dataclass(frozen=True, slots=True)
class ReflectionStep(HopStep):
    """A draft was checked, and what the engine does about it."""

    reflection: Reflection
    action: Action


@dataclass(frozen=True, slots=True)
class DegradedStep(HopStep):
    """The run went on without an optional role (rephrase, reflect), because its calls failed.

    `error` is the name of the error's class, `message` its sentence.
    """

    role: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class ToolStep(HopStep):
    """A tool other than a search was used, or refused, by the strategy `agent` or for a calculation of a plan: what was
    asked of it, what it said, and the ids of the documents that it showed."""

    tool: str
    asked: str
    told: str
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FollowUpStep:
    """A follow-up was understood as `question`, which stands alone. `known`: the facts of the conversation may answer
    it, so that nothing has to be looked up."""

    asked: str
    question: str
    known: bool = False


@dataclass(frozen=True, slots=True)
class FinalStep:
    """The last step of every run."""

    answer: Answer


Step = (
    AnalysisStep
    | PlanningStep
    | ShortlistStep
    | GradingStep
    | CorrectionStep
    | WebStep
    | ReadingStep
    | RephrasingStep
    | AnsweringStep
    | ReflectionStep
    | DegradedStep
    | ToolStep
    | FollowUpStep
    | FinalStep
)


# --- while a run goes on -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DocumentAtHand:
    """A document that is being read: the `number`th of the `of` documents that are listed for its need."""

    title: str
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run is doing at a moment, and what it has used by then.

    `role` is that of the model call under way that began first, "" where none is; `reading` are the documents that are
    being read, the one that was begun first before the others. `calls` counts the model calls begun, `replies` those
    that have come back; `tokens` are those of their prompts and replies, `waited` the seconds that they took together.
    """

    role: str
    reading: tuple[DocumentAtHand, ...]
    calls: int
    tokens: int
    replies: int = 0
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """What the model has written since: `text` stands at the character `start` of the answer, which ends with it. It is
    not checked yet."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """What was shown of the answer does not count; `reason` is one sentence."""

    reason: str


class WrittenAnswer:
    """Follows the answer of one run. Safe to use from several threads."""

    def __init__(self, publish: Callable[[AnswerDelta | TextWithdrawn], None]) -> None:
        self._publish = publish
        self._lock = threading.Lock()
        self._shown = ""

    def wrote(self, text: str) -> None:
        """The answer as far as the model has written it. One that does not begin with what was told before replaces it:
        the model was asked again."""
        with self._lock:
            if self._shown and not text.startswith(self._shown):
                self._withdraw("The model was asked to write it again.")
            if text != self._shown:
                start, self._shown = len(self._shown), text
                self._publish(AnswerDelta(start, text[start:]))

    def check(self, step: Step) -> None:
        """Take back what is shown if the step refuses it."""
        with self._lock:
            if not self._shown:
                return
            match step:
                case FollowUpStep(known=False) | AnsweringStep(draft=Draft(answered=False)):
                    self._withdraw("The facts do not settle the question.")
                case ReflectionStep(action=action) if action is not Action.ACCEPT:
                    self._withdraw("A check found what no fact proves, or no answer to the question.")
                case FinalStep(answer=answer) if answer.status is Status.ABSTAINED:
                    self._withdraw("The corpus does not hold the answer.")

    def _withdraw(self, reason: str) -> None:
        self._shown = ""
        self._publish(TextWithdrawn(reason))
