"""Which ending a run came to: its status, the reason in words, and the code of the reason.

What the run knows decides, never the words of a model: which windows were read, what was found, which limit or fault
ended it. An LLM's word counts for one thing alone, that the question assumes something untrue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.engine.run_state import RunState
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.text.plurals import counted
from iterative_rag.types import DegradedStep, Draft, LostRowsStep, ReasonCode, Status, UnreadWindow

NOTHING_FOUND = "The corpus holds no fact that helps to answer this."
TITLES_NAMED = 5


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended: the limit or the fault that stopped it, if any, the roles that it had to do without, and the
    lists whose rows it did not find."""

    cap: CapReached | None = None
    fault: IterativeRAGError | None = None
    degraded: tuple[DegradedStep, ...] = ()
    lost: tuple[LostRowsStep, ...] = ()


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """The status of a run, and why it was not answered: a sentence or two, and its code."""

    status: Status
    reason: str = ""
    code: ReasonCode | None = None


def outcome_of(state: RunState, ending: Ending, draft: Draft) -> RunOutcome:
    missing = f"Missing: {draft.missing}" if draft.missing else ""
    if ending.fault is not None:
        return RunOutcome(Status.INCOMPLETE, str(ending.fault), ReasonCode.FAULT)
    if ending.cap is not None:
        reason = _joined(str(ending.cap), _not_read(state.unread), missing)
        return RunOutcome(Status.INCOMPLETE, reason, ReasonCode.LIMIT)
    if state.falls_short:
        return RunOutcome(Status.INCOMPLETE, _joined(_not_read(state.unread), missing), ReasonCode.UNREAD)
    if draft.answered:
        return RunOutcome(Status.ANSWERED)
    if ending.degraded:  # with that role the answer might have been found
        reason = _joined(_done_without(ending.degraded), missing)
        return RunOutcome(Status.INCOMPLETE, reason, ReasonCode.ROLE_FAILED)
    return RunOutcome(Status.ABSTAINED, draft.missing or NOTHING_FOUND, _abstention(state, draft))


def _abstention(state: RunState, draft: Draft) -> ReasonCode:
    if draft.false_premise:
        return ReasonCode.FALSE_PREMISE
    return ReasonCode.NOT_WORKED_OUT if state.inquiry.facts else ReasonCode.NOT_IN_CORPUS


def _not_read(unread: Sequence[UnreadWindow]) -> str:
    """Which documents could not be read and why, in one sentence; "" where all were read."""
    titles = list(dict.fromkeys(one.window.title for one in unread))
    reasons = list(dict.fromkeys(one.reason.rstrip(".") for one in unread))
    if not titles:
        return ""
    more = [f"and {len(titles) - TITLES_NAMED} more"] if len(titles) > TITLES_NAMED else []
    named = ", ".join([*titles[:TITLES_NAMED], *more])
    return f"{counted(len(titles), 'document')} could not be read: {named} ({'; '.join(reasons[:2])})."


def _done_without(degraded: Sequence[DegradedStep]) -> str:
    """`The run went on without the role reflect (Ollama answered 500).`"""
    roles = list(dict.fromkeys(step.role for step in degraded))
    named = "role" if len(roles) == 1 else "roles"
    return f"The run went on without the {named} {', '.join(roles)} ({degraded[-1].message.rstrip('.')})."


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)
