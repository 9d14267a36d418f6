"""What a run tried in vain and what it refused, with the reasons: the part of a proof that is folded away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from iterative_rag.text.markup import plain
from iterative_rag.text.plurals import counted
from iterative_rag.types import (
    Answer,
    AnsweringStep,
    CorrectionStep,
    DegradedStep,
    Fact,
    GradingStep,
    HopRecord,
    LostRowsStep,
    ReadingStep,
    ReflectionStep,
    Step,
    SufficiencyStep,
    ToolStep,
    Verdict,
    WebStep,
)

# Of the values that were found and not used, and of the documents that were read, so many are named.
_NAMED = 6


@dataclass(frozen=True, slots=True)
class Setback:
    """Something that led nowhere: what was tried, and why nothing came of it. `hop` is 0 where it belongs to none."""

    hop: int
    tried: str
    reason: str


def setbacks(answer: Answer, steps: Iterable[Step] = ()) -> tuple[Setback, ...]:
    """In the order of the hops, each once. Without the steps of the run only what the answer itself tells."""
    entries = [*_unused(answer), *(setback for step in steps for setback in _of_step(step))]
    for document in answer.unread:
        entries.append(Setback(0, f"Reading {document.title} for “{document.need}”", document.reason))
    return tuple(dict.fromkeys(sorted(entries, key=lambda setback: setback.hop)))


def _unused(answer: Answer) -> Iterator[Setback]:
    """Needs that brought nothing to the answer, and values of the others that it does not rest on."""
    cited = {(citation.source, citation.start, citation.end) for citation in answer.citations}
    for hop in answer.hops:
        for need in hop.needs:
            facts = [fact for fact in hop.facts if fact.need.question == need]
            left = [fact for fact in facts if (fact.source, fact.start, fact.end) not in cited]
            if not facts:
                yield Setback(hop.n, need, f"Nothing was found in {_titles(hop)}.")
            elif len(left) == len(facts):
                yield Setback(hop.n, need, f"The answer rests on none of it: {_values(left)}.")
            elif left:
                yield Setback(hop.n, need, f"Other candidates, trusted less: {_values(left)}.")


def _titles(hop: HopRecord) -> str:
    named = ", ".join(hop.shortlist[:_NAMED])
    return f"{named} and {len(hop.shortlist) - _NAMED} more" if len(hop.shortlist) > _NAMED else named or "the corpus"


def _values(facts: Sequence[Fact]) -> str:
    said = dict.fromkeys(f"{plain(fact.value) or _start_of(fact.quote)} ({fact.title})" for fact in facts)
    named = "; ".join(list(said)[:_NAMED])
    return f"{named}; and {len(said) - _NAMED} more" if len(said) > _NAMED else named


def _start_of(quote: str) -> str:
    said = " ".join(plain(quote).split())
    return f"“{said[:60]} …”" if len(said) > 60 else f"“{said}”"


def _of_step(step: Step) -> Iterator[Setback]:
    match step:
        case ReadingStep():
            yield from _of_reading(step)
        case GradingStep() if step.verdict is not Verdict.CORRECT:
            graded = ", ".join(
                f"{title} ({grade.label})" for title, grade in zip(step.titles, step.grades, strict=True)
            )
            yield Setback(step.hop, f"The documents for “{step.need.question}”", f"Graded {step.verdict}: {graded}.")
        case CorrectionStep() if not step.documents:
            words = "; ".join(step.rewording.phrasings) or step.rewording.broader
            yield Setback(step.hop, f"“{step.need.question}” in other words", f"Nothing new was listed for: {words}.")
        case LostRowsStep():
            yield Setback(step.hop, step.need.question, step.caveat)
        case WebStep():
            for fault in step.skipped:
                yield Setback(step.hop, f"The web page {fault.title}", fault.message)
        case SufficiencyStep() if not step.sufficiency.enough:
            missing = step.sufficiency.gap or step.sufficiency.reason
            yield Setback(step.hop, "Answering with the facts so far", f"Something was missing: {missing}")
        case AnsweringStep() if not step.draft.answered:
            yield Setback(step.hop, "Answering with the facts so far", step.draft.missing or "They did not suffice.")
        case ReflectionStep():
            for claim in step.reflection.claims:
                if not claim.grounded:
                    yield Setback(
                        step.hop, f"The claim “{claim.text}”", f"Refused: {claim.reason or 'no fact proves it'}"
                    )
        case DegradedStep():
            yield Setback(step.hop, f"The role {step.role}", f"Left out after an error: {step.message}")
        case ToolStep() if not step.documents and step.tool != "calculate":
            yield Setback(step.hop, f"{step.tool} {step.asked}".strip(), step.told)


def _of_reading(step: ReadingStep) -> Iterator[Setback]:
    for fault in step.faults:
        yield Setback(step.hop, f"Reading {fault.title} for “{step.need.question}”", fault.message)
    if step.dropped:
        quotes = counted(step.dropped, "quote")
        said = "does not stand" if step.dropped == 1 else "do not stand"
        yield Setback(step.hop, step.need.question, f"Refused: {quotes} of the reader that {said} in the document.")
