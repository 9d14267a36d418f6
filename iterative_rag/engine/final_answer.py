"""Turns the last state of a run into the typed answer, whatever ended the run: with its status, the reason in words and
the reason's code.

What the run knows decides, never the words of a model: which windows were read, what was found, which limit or fault
ended it. An LLM's word counts for one thing alone, that the question assumes something untrue.

A thorough reader, such as an LLM, that reads everything listed for a need and finds nothing is believed: the corpus
does not hold it. The built-in reader finds something in most texts and misses much, so a measured nearness decides
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from iterative_rag.engine.citation_chain import CitationNumbers, ValueFlow
from iterative_rag.engine.run_state import RunState
from iterative_rag.engine.texts import extract_of
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.protocols import BackendTraits, Corpus
from iterative_rag.retrieval.nearness import names_held, nearest_passages
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.plurals import counted
from iterative_rag.types.documents import ShortlistedDocument
from iterative_rag.types.loop import Analysis, AnswerForm, Inquiry, Known, LostRows, Need, UnreadWindow
from iterative_rag.types.outcomes import (
    Answer,
    Citation,
    ConfidenceWord,
    Conflict,
    Draft,
    Fault,
    ReasonCode,
    Status,
    UnreadDocument,
    Usage,
)
from iterative_rag.types.steps import AnalysisStep, CorrectionStep, DegradedStep, ShortlistStep, Step, WebStep
from iterative_rag.verification.confidence import by_confidence, by_evidence, confidence, thresholds
from iterative_rag.verification.conflicts import with_conflicts
from iterative_rag.verification.groundedness import Standing, check
from iterative_rag.verification.short_answers import with_said_short

NOTHING_FOUND = "The corpus holds no fact that helps to answer this."
TITLES_NAMED = 5
ROWS_NAMED = 3
# Values that an abstention shows of what was found before.
FINDINGS_SHOWN = 5
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


# --- the answer --------------------------------------------------------------------------------


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
