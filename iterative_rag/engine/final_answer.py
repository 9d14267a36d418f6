"""Turns the last state of a run into the typed answer, whatever ended the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from iterative_rag.engine.run_state import RunState
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Answer,
    Citation,
    DegradedStep,
    Draft,
    Fact,
    Fault,
    Inquiry,
    LostRowsStep,
    Status,
    UnreadDocument,
    UnreadWindow,
    Usage,
)
from iterative_rag.verification.confidence import confidence
from iterative_rag.verification.conflicts import with_conflicts

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


def final_answer(state: RunState, ending: Ending, usage: Usage) -> Answer:
    written = _with_sound_notes(state.draft or best_so_far(state.inquiry), state.inquiry)
    draft, conflicts = with_conflicts(written, state.inquiry)
    claims = state.reflection.claims if state.reflection and draft.answered else ()
    status, reason = _status(state, ending, draft)
    fault = ending.fault
    return Answer(
        question=state.inquiry.original,
        text=draft.text,
        short_answer=draft.short_answer,
        status=status,
        reason=reason,
        confidence=confidence(written, state.reflection, conflicts),
        citations=_citations(draft, state.inquiry.facts),
        hops=state.hops,
        usage=usage,
        cap=ending.cap.cap if ending.cap else None,
        fault=Fault(str(fault), fault.hint, fault.exit_code) if fault else None,
        computations=tuple(replace(one, facts=_numbers(one.facts, draft)) for one in draft.computations),
        conflicts=tuple(
            replace(one, sides=tuple(replace(side, facts=_numbers(side.facts, draft)) for side in one.sides))
            for one in conflicts
        ),
        claims=tuple(replace(one, facts=_numbers(one.facts, draft)) for one in claims),
        unread=_documents(state.unread),
        also=draft.also if draft.answered else (),
        caveats=(*(draft.caveats if draft.answered else ()), *_lost_rows(ending.lost, state.inquiry)),
        last_attempt=draft.answered and draft.last_attempt,
    )


def _lost_rows(lost: Sequence[LostRowsStep], inquiry: Inquiry) -> tuple[str, ...]:
    """What to know of lists without rows, where nothing else gave their needs a value."""
    valued = {fact.need.key for fact in inquiry.facts if fact.value}
    return tuple(dict.fromkeys(one.caveat for one in lost if one.need.key not in valued))


def _with_sound_notes(draft: Draft, inquiry: Inquiry) -> Draft:
    """The draft without other values and caveats that name what no fact does."""
    if not (draft.also or draft.caveats):
        return draft
    from iterative_rag.verification.groundedness import Standing, check

    def is_sound(note: str) -> bool:
        checked = check(inquiry, replace(draft, text=note, short_answer=""))
        return all(claim.standing is not Standing.FAILED for claim in checked)

    return replace(
        draft,
        also=tuple(note for note in draft.also if is_sound(note)),
        caveats=tuple(note for note in draft.caveats if is_sound(note)),
    )


def best_so_far(inquiry: Inquiry) -> Draft:
    """A draft without any model: the fact that is trusted most, shown as what it is."""
    if not inquiry.facts:
        return Draft(answered=False, text="", missing=NOTHING_FOUND)
    # The latest hop is nearest to the question.
    place = max(range(len(inquiry.facts)), key=lambda n: (inquiry.facts[n].score, n))
    fact = inquiry.facts[place]
    return Draft(answered=False, text=f"Found so far: {fact.quote} [1]", cited=(place,), missing=inquiry.question)


def _status(state: RunState, ending: Ending, draft: Draft) -> tuple[Status, str]:
    """The status, and its reason in a sentence or two ("" when answered)."""
    if ending.fault is not None:
        return Status.INCOMPLETE, str(ending.fault)
    missing = f"Missing: {draft.missing}" if draft.missing else ""
    if ending.cap is not None:
        return Status.INCOMPLETE, _joined(str(ending.cap), _not_read(state.unread), missing)
    if state.falls_short:
        return Status.INCOMPLETE, _joined(_not_read(state.unread), missing)
    if draft.answered:
        return Status.ANSWERED, ""
    if ending.degraded:  # with that role the answer might have been found
        return Status.INCOMPLETE, _joined(_done_without(ending.degraded), missing)
    return Status.ABSTAINED, draft.missing or NOTHING_FOUND


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


def _documents(unread: Sequence[UnreadWindow]) -> tuple[UnreadDocument, ...]:
    """One entry for each need and document."""
    entries = {(one.need.key, one.window.document_id): one for one in unread}
    return tuple(
        UnreadDocument(one.window.title, one.window.source, one.need.question, one.reason) for one in entries.values()
    )


def _numbers(places: Sequence[int], draft: Draft) -> tuple[int, ...]:
    """The citation numbers of the facts at these places, for those that are cited."""
    return tuple(draft.cited.index(place) + 1 for place in places if place in draft.cited)


def _citations(draft: Draft, facts: Sequence[Fact]) -> tuple[Citation, ...]:
    return tuple(
        Citation(
            n,
            fact.title,
            fact.source,
            fact.quote,
            fact.start,
            fact.end,
            fact.page,
            fact.retrieved,
            fact.url,
            fact.copies,
        )
        for n, fact in enumerate((facts[place] for place in draft.cited), start=1)
    )
