"""What all engines have in common: they yield typed steps, and end in a FinalStep whatever happens.

A cap ends in an `incomplete` answer, and so does a fault once there are facts to show; before that, it raises. A window
that could not be read is read once more before the run ends; an abstention without it would be a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Protocol, TypeAlias

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafted, Drafting
from iterative_rag.engine.run_state import ATTEMPTS, Record, best_so_far, grown
from iterative_rag.errors import CapReached, IterativeRAGError, LLMError
from iterative_rag.types import Cap, DegradedStep, Fact, FinalStep, Inquiry, Need, Step

# What an engine does with a run. It goes on from what the record holds, so that it can be taken up again.
Course: TypeAlias = Callable[[Record], Iterator[Step]]


class Engine(Protocol):
    """One engine serves one run."""

    def steps(self, question: str) -> Iterator[Step]:
        """All steps of answering `question`; the last one is the FinalStep."""
        ...


def to_its_end(record: Record, course: Course, drafting: Drafting, finder: DataFinder | None = None) -> Iterator[Step]:
    """The steps of a course, and its end: at a cap, what can be said by then. `finder` reads again what was lost."""
    try:
        yield from _noted(record, _with_second_chances(record, course, finder))
    except CapReached as cap:
        record.cap = cap
        yield from _noted(record, _last_attempt(record, drafting, finder))
    except IterativeRAGError as fault:
        if not record.inquiry.facts:
            raise
        record.close_hop()
        record.fault, record.draft = fault, best_so_far(record.inquiry)
    if record.unreadable and not record.inquiry.facts and not record.budget.replied:
        raise record.unreadable  # nothing at all came back: it is the server, not a document
    yield FinalStep(record.answer())


def _noted(record: Record, steps: Iterator[Step]) -> Iterator[Step]:
    """The steps; the record is told of the parts that the run had to do without."""
    for step in steps:
        if isinstance(step, DegradedStep):
            record.degraded = (*record.degraded, step)
        yield step


def _with_second_chances(record: Record, course: Course, finder: DataFinder | None) -> Iterator[Step]:
    """The course, taken up again once where a call failed in every attempt, and where windows that could not be read
    at first bring facts that the answer lacked."""
    try:
        yield from course(record)
    except LLMError as fault:
        if fault.fatal:
            raise
        record.close_hop()
        yield from course(record)
    while finder and record.falls_short and (yield from _read_again(record, finder)):
        yield from course(record)


def _read_again(record: Record, finder: DataFinder) -> Generator[Step, None, bool]:
    """The second attempt at windows that could not be read, if time is left; whether it brought new facts."""
    windows = [one for one in record.unread if one.attempts < ATTEMPTS]
    left = record.budget.seconds_left()
    if not windows or left <= 0:
        return False
    record.begin_hop()
    readings = yield from finder.read_again(len(record.hops) + 1, windows, left)
    record.lost(readings, again=windows)
    inquiry = record.inquiry
    new = new_facts([fact for reading in readings for fact in reading.facts], inquiry.facts)
    if new:
        record.inquiry = grown(inquiry, (), new, inquiry.question)
        record.found([reading.need for reading in readings], [one.window.title for one in windows], new)
        record.end_hop(inquiry.question)
    return bool(new)


def _last_attempt(record: Record, drafting: Drafting, finder: DataFinder | None) -> Iterator[Step]:
    """What can be said at the cap: by the model while calls, tokens and time allow, else the best fact."""
    try:
        if finder and record.cap and record.cap.cap is Cap.HOPS:
            yield from _read_again(record, finder)
        drafted = yield from drafting.draft(len(record.hops) + 1, record.inquiry, last_attempt=True)
        record.take(drafted)
    except CapReached:
        record.draft = best_so_far(record.inquiry)


def begun(question: str, budget: RunBudget) -> Record:
    return Record(Inquiry(original=question, question=question), budget)


def search(
    record: Record, finder: DataFinder, hop: int, needs: Sequence[Need], *, wider: bool = False
) -> Generator[Step, None, tuple[Fact, ...]]:
    """One hop's search; returns the new facts, which the record's inquiry holds then. The hop is still open: end it.

    Raises CapReached where a cap ended the reading, and the fault where a need could read nothing because no call can
    go through. Other windows that could not be read are noted in the record.
    """
    inquiry, budget = record.inquiry, record.budget
    found = yield from finder.find(hop, needs, wider=wider, seconds=budget.seconds_left)
    new = new_facts([fact for reading in found.readings for fact in reading.facts], inquiry.facts)
    record.inquiry = grown(inquiry, needs, new, inquiry.question)
    record.found(needs, [entry.title for entries in found.shortlists for entry in entries], new)
    record.lost(found.readings)
    for reading in found.readings:
        if reading.cap:
            record.end_hop(inquiry.question)
            raise budget.reached(reading.cap)
        if reading.error and _is_fatal(reading.error):
            record.end_hop(inquiry.question)
            raise reading.error
    return new


def _is_fatal(error: IterativeRAGError) -> bool:
    """Whether further calls would fail as well."""
    return not isinstance(error, LLMError) or error.fatal


def new_facts(found: Sequence[Fact], known: Sequence[Fact]) -> tuple[Fact, ...]:
    """What was found and is not known yet for the same need; the same quote may serve two needs."""
    seen = {(fact.document_id, fact.start, fact.end, fact.need.key) for fact in known}
    new = []
    for fact in found:
        place = (fact.document_id, fact.start, fact.end, fact.need.key)
        if place not in seen:
            seen.add(place)
            new.append(fact)
    return tuple(new)


__all__ = ["Course", "Drafted", "Engine", "begun", "new_facts", "search", "to_its_end"]
