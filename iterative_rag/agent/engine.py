"""What all engines have in common: they yield typed steps, and end in a FinalStep whatever happens.

A cap ends in an `incomplete` answer, and so does a fault once there are facts to show; before that, it raises.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from typing import Protocol

from iterative_rag.agent.data_finder import DataFinder
from iterative_rag.agent.drafting import Drafted, Drafting
from iterative_rag.agent.metering import RunMeter
from iterative_rag.agent.outcome import Record, best_so_far, grown
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.types import Fact, FinalStep, Inquiry, Need, Step


class Engine(Protocol):
    """One engine serves one run."""

    def steps(self, question: str) -> Iterator[Step]:
        """All steps of answering `question`; the last one is the FinalStep."""
        ...


def to_its_end(record: Record, course: Iterator[Step], drafting: Drafting) -> Iterator[Step]:
    """The steps of a course, and its end: at a cap, what can be said by then."""
    try:
        yield from course
    except CapReached as cap:
        record.cap = cap
        yield from _last_attempt(record, drafting)
    except IterativeRAGError as fault:
        if not record.inquiry.facts:
            raise
        record.fault, record.draft = fault, best_so_far(record.inquiry)
    yield FinalStep(record.answer())


def _last_attempt(record: Record, drafting: Drafting) -> Iterator[Step]:
    """What can be said at the cap: by the model while calls, tokens and time allow, else the best fact."""
    try:
        drafted = yield from drafting.draft(len(record.hops) + 1, record.inquiry, last_attempt=True)
        record.take(drafted)
    except CapReached:
        record.draft = best_so_far(record.inquiry)


def begun(question: str, meter: RunMeter) -> Record:
    return Record(Inquiry(original=question, question=question), meter)


def search(
    record: Record, finder: DataFinder, hop: int, needs: Sequence[Need], *, wider: bool = False
) -> Generator[Step, None, tuple[Fact, ...]]:
    """One hop's search; returns the new facts, which the record's inquiry holds then. The hop is still open: end it.

    Raises the fault where not one window of a need could be read, and CapReached where a cap ended the reading.
    """
    inquiry, meter = record.inquiry, record.meter
    found = yield from finder.find(hop, needs, wider=wider, seconds=meter.seconds_left)
    new = new_facts([fact for reading in found.readings for fact in reading.facts], inquiry.facts)
    record.inquiry = grown(inquiry, needs, new, inquiry.question)
    record.found(needs, found.shortlists, new)
    if ended := next((reading for reading in found.readings if reading.cap or reading.error), None):
        record.end_hop(inquiry.question)
        if ended.cap:
            raise meter.reached(ended.cap)
        if ended.error:
            raise ended.error
    return new


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


__all__ = ["Drafted", "Engine", "begun", "new_facts", "search", "to_its_end"]
