"""Turns the last state of a run into the typed answer, whatever ended the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from iterative_rag.engine.citation_chain import CitationNumbers, ValueFlow
from iterative_rag.engine.endings import NOTHING_FOUND, Ending, RunOutcome, outcome_of
from iterative_rag.engine.run_state import RunState
from iterative_rag.engine.texts import extract_of
from iterative_rag.retrieval.nearness import nearest_passages
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Answer,
    AnswerForm,
    Citation,
    ConfidenceWord,
    Conflict,
    Draft,
    Fault,
    Inquiry,
    ReasonCode,
    Status,
    UnreadDocument,
    Usage,
)
from iterative_rag.verification.confidence import by_confidence, by_evidence, confidence
from iterative_rag.verification.conflicts import with_conflicts
from iterative_rag.verification.groundedness import Standing, check
from iterative_rag.verification.short_answers import with_said_short

# Values that an abstention shows of what was found before.
FINDINGS_SHOWN = 5


def final_answer(state: RunState, ending: Ending, usage: Usage) -> Answer:
    written = with_said_short(state.inquiry, state.draft or best_so_far(state.inquiry))
    written = _with_sound_notes(written, state.inquiry)
    flow = ValueFlow(state)
    proved = flow.with_chain(written, from_question=ending.traits.own_words)
    # Quotes conclude nothing, and the writer of a text tells both sides itself.
    decides = not (written.form is AnswerForm.EXTRACT or written.form.is_text)
    draft, conflicts = with_conflicts(proved, state.inquiry) if decides else (proved, ())
    claims = state.reflection.claims if state.reflection and draft.answered else ()
    outcome = outcome_of(state, ending, draft)
    if outcome.status is Status.ABSTAINED:
        draft = _with_partial_finding(draft, state, conflicts, ending)
    trust = confidence(proved, state.reflection, conflicts, state.inquiry.facts)
    fault = ending.fault
    draft = flow.with_chain(draft, from_question=False)  # of what was added since
    numbers = CitationNumbers(state.inquiry.facts, draft.cited, flow.rests_on)
    citations = numbers.citations()
    untrue = outcome.code is ReasonCode.FALSE_PREMISE
    return Answer(
        question=state.inquiry.original,
        text=numbers.renumbered(draft.text),
        short_answer=numbers.with_unit(draft.short_answer),
        status=outcome.status,
        reason=numbers.renumbered(outcome.reason) if untrue else outcome.reason,
        reason_code=outcome.code,
        confidence=trust,
        confidence_word=_word(state, written, trust, conflicts, ending),
        citations=citations,
        nearest=_nearest(state.inquiry, ending, outcome, after=len(citations)),
        hops=state.hops,
        usage=usage,
        cap=ending.cap.cap if ending.cap else None,
        fault=Fault(str(fault), fault.hint, fault.exit_code) if fault else None,
        computations=tuple(replace(result, facts=numbers.of(result.facts)) for result in draft.computations),
        conflicts=tuple(
            replace(conflict, sides=tuple(replace(side, facts=numbers.of(side.facts)) for side in conflict.sides))
            for conflict in conflicts
        ),
        claims=tuple(replace(claim, facts=numbers.of(claim.facts)) for claim in claims),
        unread=tuple(
            UnreadDocument(entry.window.title, entry.window.source, entry.need.question, entry.reason)
            for entry in {(entry.need.key, entry.window.document_id): entry for entry in state.unread}.values()
        ),
        also=tuple(map(numbers.renumbered, draft.also)) if draft.answered else (),
        caveats=(*(map(numbers.renumbered, draft.caveats) if draft.answered else ()), *_left_out(written)),
        last_attempt=draft.answered and draft.last_attempt,
        chain=numbers.chain(),
        form=draft.form,
        taken_as=written.taken_as,
        facts=tuple(state.inquiry.facts[index] for index in draft.cited),
    )


def _word(
    state: RunState, written: Draft, trust: float, conflicts: Sequence[Conflict], ending: Ending
) -> ConfidenceWord | None:
    if not written.answered or written.form is AnswerForm.EXTRACT or written.form.is_text:
        return None  # no share of extracts and texts was measured
    if ending.traits.own_words:
        return by_evidence(state.inquiry, written, trust, state.reflection, conflicts)
    return by_confidence(trust)


def _nearest(inquiry: Inquiry, ending: Ending, outcome: RunOutcome, *, after: int) -> tuple[Citation, ...]:
    """What comes nearest to a question that was not worked out, or whose premise no quote contradicts."""
    unproved = outcome.code is ReasonCode.FALSE_PREMISE and not after
    if ending.corpus is None or not (unproved or outcome.code is ReasonCode.NOT_WORKED_OUT):
        return ()
    return nearest_passages(inquiry.original, ending.corpus, ending.listed, inquiry.facts, after=after)


def _with_partial_finding(draft: Draft, state: RunState, conflicts: Sequence[Conflict], ending: Ending) -> Draft:
    """An abstention that says what this run has found, in place of a text that nobody has checked. The facts of the
    built-in reader are too uncertain to be told, and a false premise keeps the facts that it cites."""
    if draft.false_premise or not ending.traits.thorough:
        return replace(draft, text="")
    inquiry, here = state.inquiry, {fact for hop in state.hops for fact in hop.facts}
    best: dict[str, int] = {}
    for index, fact in enumerate(inquiry.facts):
        key = fact.need.key
        if fact.value and fact in here and (key not in best or fact.score > inquiry.facts[best[key]].score):
            best[key] = index
    told = list(best.values())[-FINDINGS_SHOWN:]
    facts = [inquiry.facts[index] for index in told]
    said = "; ".join(f"{fact.need.question} {fact.value} [{n}]" for n, fact in enumerate(facts, start=1))
    disputed = (index for conflict in conflicts for side in conflict.sides for index in side.facts)
    cited = tuple(dict.fromkeys((*told, *disputed)))
    return replace(draft, text=said and f"Found so far: {said}", cited=cited)


def _left_out(draft: Draft) -> Iterator[str]:
    """What a text does not hold: sentences that no fact proves, aspects on which nothing was found or written."""
    if draft.left_out:
        parts = counted(draft.left_out, "cell" if draft.form is AnswerForm.TABLE else "sentence")
        yield f"Left out, because no quoted fact proves it: {parts}."
    if draft.uncovered:
        yield f"Nothing was found or written on: {'; '.join(draft.uncovered)}."


def _with_sound_notes(draft: Draft, inquiry: Inquiry) -> Draft:
    """The draft without other values and caveats that name what no fact does."""

    def is_sound(note: str) -> bool:
        checked = check(inquiry, replace(draft, text=note, short_answer=""))
        return all(claim.standing is not Standing.FAILED for claim in checked)

    return replace(draft, also=tuple(filter(is_sound, draft.also)), caveats=tuple(filter(is_sound, draft.caveats)))


def best_so_far(inquiry: Inquiry) -> Draft:
    """A draft without any model: the fact that is trusted most, shown as what it is."""
    if not inquiry.facts:
        return Draft(answered=False, text="", missing=NOTHING_FOUND)
    met = {fact.need.key for fact in inquiry.facts if fact.value or inquiry.form.is_text}
    missing = "; ".join(dict.fromkeys(need.question for need in inquiry.tried if need.key not in met))
    if inquiry.form.is_text:
        return replace(extract_of(inquiry), answered=False, missing=missing)
    # The latest hop is nearest to the question.
    index = max(range(len(inquiry.facts)), key=lambda n: (inquiry.facts[n].score, n))
    fact = inquiry.facts[index]
    return Draft(answered=False, text=f"Found so far: {fact.quote} [1]", cited=(index,), missing=missing)
