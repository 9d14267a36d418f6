"""Turns the last state of a run into the typed answer, whatever ended the run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.engine.citation_numbers import CitationNumbers
from iterative_rag.engine.endings import NOTHING_FOUND, Ending, outcome_of
from iterative_rag.engine.run_state import RunState
from iterative_rag.types import (
    Answer,
    Draft,
    Fault,
    Inquiry,
    LostRowsStep,
    UnreadDocument,
    UnreadWindow,
    Usage,
)
from iterative_rag.verification.confidence import confidence
from iterative_rag.verification.conflicts import with_conflicts


def final_answer(state: RunState, ending: Ending, usage: Usage) -> Answer:
    written = _with_sound_notes(state.draft or best_so_far(state.inquiry), state.inquiry)
    draft, conflicts = with_conflicts(written, state.inquiry)
    claims = state.reflection.claims if state.reflection and draft.answered else ()
    outcome = outcome_of(state, ending, draft)
    fault = ending.fault
    numbers = CitationNumbers(state.inquiry.facts, draft.cited)
    return Answer(
        question=state.inquiry.original,
        text=numbers.renumbered(draft.text),
        short_answer=numbers.with_unit(draft.short_answer),
        status=outcome.status,
        reason=outcome.reason,
        reason_code=outcome.code,
        confidence=confidence(written, state.reflection, conflicts),
        citations=numbers.citations(),
        hops=state.hops,
        usage=usage,
        cap=ending.cap.cap if ending.cap else None,
        fault=Fault(str(fault), fault.hint, fault.exit_code) if fault else None,
        computations=tuple(replace(one, facts=numbers.of(one.facts)) for one in draft.computations),
        conflicts=tuple(
            replace(one, sides=tuple(replace(side, facts=numbers.of(side.facts)) for side in one.sides))
            for one in conflicts
        ),
        claims=tuple(replace(one, facts=numbers.of(one.facts)) for one in claims),
        unread=_documents(state.unread),
        also=tuple(map(numbers.renumbered, draft.also)) if draft.answered else (),
        caveats=(
            *(map(numbers.renumbered, draft.caveats) if draft.answered else ()),
            *_lost_rows(ending.lost, state.inquiry),
        ),
        last_attempt=draft.answered and draft.last_attempt,
        chain=numbers.chain(),
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


def _documents(unread: Sequence[UnreadWindow]) -> tuple[UnreadDocument, ...]:
    """One entry for each need and document."""
    entries = {(one.need.key, one.window.document_id): one for one in unread}
    return tuple(
        UnreadDocument(one.window.title, one.window.source, one.need.question, one.reason) for one in entries.values()
    )
