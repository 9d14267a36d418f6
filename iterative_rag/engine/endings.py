"""Which ending a run came to: its status, the reason in words, and the code of the reason.

What the run knows decides, never the words of a model: which windows were read, what was found, which limit or fault
ended it. An LLM's word counts for one thing alone, that the question assumes something untrue.

A thorough reader, such as an LLM, that reads everything listed for a need and finds nothing is believed: the corpus
does not hold it. The built-in reader finds something in most texts and misses much, so a measured nearness decides
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from iterative_rag.engine.run_state import RunState
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.protocols import BackendTraits, Corpus
from iterative_rag.retrieval.nearness import names_held
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.plurals import counted
from iterative_rag.types.documents import ShortlistedDocument
from iterative_rag.types.loop import Analysis, AnswerForm, Known, LostRows, Need, UnreadWindow
from iterative_rag.types.outcomes import Draft, ReasonCode, Status
from iterative_rag.types.steps import AnalysisStep, CorrectionStep, DegradedStep, ShortlistStep, Step, WebStep
from iterative_rag.verification.confidence import thresholds

NOTHING_FOUND = "The corpus holds no fact that helps to answer this."
TITLES_NAMED = 5
ROWS_NAMED = 3
# Markers in what a model calls untrue count facts, not citations.
_MARKS = lazy_pattern(r"\s*\[[\d,;\s–-]+\]")


T = TypeVar("T", bound=Step)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: the limit or the fault that stopped it, if any, and its steps.

    `traits` are those of the backend that played the roles. `corpus` is None where nothing is read.
    """

    traits: BackendTraits
    corpus: Corpus | None = None
    cap: CapReached | None = None
    fault: IterativeRAGError | None = None
    steps: Sequence[Step] = ()

    def of(self, kind: type[T]) -> list[T]:
        return [step for step in self.steps if isinstance(step, kind)]

    @property
    def analysis(self) -> Analysis | None:
        """The last one."""
        analyses = self.of(AnalysisStep)
        return analyses[-1].analysis if analyses else None

    @property
    def listed(self) -> list[ShortlistedDocument]:
        """The documents that the searches of the run have listed."""
        steps = (step for step in self.steps if isinstance(step, ShortlistStep | CorrectionStep | WebStep))
        return [entry for step in steps for entry in step.documents]


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The status of a run, and why it was not answered: a sentence or two, and its code."""

    status: Status
    reason: str = ""
    code: ReasonCode | None = None


def outcome_of(state: RunState, ending: Ending, draft: Draft) -> RunOutcome:
    left = "; ".join(question for question in draft.missing.split("; ") if not state.inquiry.has_value(Need(question)))
    missing = f"Missing: {left}" if left else ""
    if ending.fault is not None:
        return RunOutcome(Status.INCOMPLETE, str(ending.fault), ReasonCode.FAULT)
    if ending.cap is not None:
        reason = _joined(str(ending.cap), _not_read(state.unread), missing)
        return RunOutcome(Status.INCOMPLETE, reason, ReasonCode.LIMIT)
    if state.falls_short:
        return RunOutcome(Status.INCOMPLETE, _joined(_not_read(state.unread), missing), ReasonCode.UNREAD)
    if draft.answered:
        return RunOutcome(Status.EXTRACT if draft.form is AnswerForm.EXTRACT else Status.ANSWERED)
    if degraded := ending.of(DegradedStep):  # with that role the answer might have been found
        roles = list(dict.fromkeys(step.role for step in degraded))
        named = f"{'role' if len(roles) == 1 else 'roles'} {', '.join(roles)}"
        without = f"The run went on without the {named} ({degraded[-1].message.rstrip('.')})."
        return RunOutcome(Status.INCOMPLETE, _joined(without, missing), ReasonCode.ROLE_FAILED)
    code = _abstention(state, ending, draft)
    lost = list(dict.fromkeys(map(str, lost_rows(state))))[:ROWS_NAMED] if code is ReasonCode.ROWS_LOST else []
    rows = f"This corpus does not have {', '.join(lost)}." if lost else ""
    reason = _joined(_abstention_reason(code, draft, ending), rows, _searched_web(ending.of(WebStep)))
    return RunOutcome(Status.ABSTAINED, reason, code)


def _searched_web(searches: Sequence[WebStep]) -> str:
    """What came of the web, where it was searched."""
    if not searches:
        return ""
    if any(step.documents for step in searches):
        return "The web did not tell it either."
    faults = [fault.message.rstrip(".") for step in searches for fault in step.skipped]
    has_results = any(step.results for step in searches)
    said = "No page that the web search found could be read" if has_results else "The web could not be searched"
    return f"{said} ({faults[-1]})." if faults else "The web search found no page."


def _abstention(state: RunState, ending: Ending, draft: Draft) -> ReasonCode:
    if draft.false_premise:
        return ReasonCode.FALSE_PREMISE
    if lost_rows(state):
        return ReasonCode.ROWS_LOST
    near = _is_near(state, ending)
    if isinstance(ending.analysis, Known) or state.reflection is not None or ending.corpus is None or near:
        return ReasonCode.NOT_WORKED_OUT
    return ReasonCode.NOT_IN_CORPUS


def lost_rows(state: RunState) -> list[LostRows]:
    """The rows that the corpus lacks, as far as nothing else gave their needs a value."""
    return [lost for lost in state.inquiry.lost_rows if not state.inquiry.has_value(Need(lost.need))]


def _is_near(state: RunState, ending: Ending) -> bool:
    if ending.traits.thorough:  # with a fact for each need of the last hop, what is missing is none that was looked for
        met = {fact.need.key for fact in state.inquiry.facts}
        last = state.hops[-1].needs if state.hops else ()
        return bool(met) and all(Need(need).key in met for need in last)
    if ending.corpus is None or not state.hops:  # nothing was looked for
        return True
    best = max((fact.score for fact in state.inquiry.facts), default=0.0)
    return thresholds().is_near(names_held(state.inquiry.original, ending.corpus, ending.listed), best)


def _abstention_reason(code: ReasonCode, draft: Draft, ending: Ending) -> str:
    """An LLM says in its own words what is missing; the built-in backend names the look-ups without a value."""
    if code is ReasonCode.FALSE_PREMISE:
        marks = "".join(f"[{n}]" for n in range(1, len(draft.cited) + 1))
        return f"{_MARKS.sub('', draft.missing)} {marks}".rstrip()
    if ending.traits.own_words or not draft.missing or not ending.of(ShortlistStep):  # no look-up was made
        return draft.missing or NOTHING_FOUND
    if code is ReasonCode.NOT_IN_CORPUS:
        return f"Nothing near was found for: {draft.missing}"
    return f"Passages that come near were found, but the built-in models made no answer of them: {draft.missing}"


def _not_read(unread: Sequence[UnreadWindow]) -> str:
    """Which documents could not be read and why, in one sentence; "" where all were read."""
    titles = list(dict.fromkeys(entry.window.title for entry in unread))
    reasons = list(dict.fromkeys(entry.reason.rstrip(".") for entry in unread))
    if not titles:
        return ""
    more = [f"and {len(titles) - TITLES_NAMED} more"] if len(titles) > TITLES_NAMED else []
    named = ", ".join([*titles[:TITLES_NAMED], *more])
    return f"{counted(len(titles), 'document')} could not be read: {named} ({'; '.join(reasons[:2])})."


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
