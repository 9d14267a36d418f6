"""The loop: which fact is missing, find it, put it into the question, until the question is answerable.

A generator of typed steps; whoever wants to show, store or count what happens consumes the steps. No hop repeats
itself: a need that was tried is looked for once more, wider, and then given up.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from iterative_rag.agent.data_finder import DataFinder
from iterative_rag.agent.metering import RunMeter
from iterative_rag.agent.outcome import Record, best_so_far, grown
from iterative_rag.errors import CapReached, IterativeRAGError
from iterative_rag.protocols import Roles
from iterative_rag.settings import Settings
from iterative_rag.types import (
    AnalysisStep,
    AnsweringStep,
    Cap,
    Fact,
    FinalStep,
    Inquiry,
    Need,
    Needs,
    RephrasingStep,
    ShortlistStep,
    Step,
)

# Hops in a row that may bring no new fact: the first is answered by a wider search, the second ends the loop.
BARREN_HOPS = 2


class StepEngine:
    """One engine serves one run: its roles and finder are bound to the run's meter."""

    def __init__(self, roles: Roles, finder: DataFinder, meter: RunMeter, settings: Settings) -> None:
        self._roles, self._finder, self._meter, self._settings = roles, finder, meter, settings

    def steps(self, question: str) -> Iterator[Step]:
        """All steps of answering `question`; the last one is the FinalStep.

        A cap ends in an `incomplete` answer, and so does a fault once there are facts to show; before that, it raises.
        """
        record = Record(Inquiry(original=question, question=question), self._meter)
        try:
            yield from self._hops(record)
        except CapReached as cap:
            record.cap = cap
            yield from self._last_attempt(record)
        except IterativeRAGError as fault:
            if not record.inquiry.facts:
                raise
            record.fault, record.draft = fault, best_so_far(record.inquiry)
        yield FinalStep(record.answer())

    def _hops(self, record: Record) -> Iterator[Step]:
        barren = 0
        for hop in range(1, self._settings.max_hops + 2):
            self._meter.check()
            record.begin_hop()
            inquiry = record.inquiry
            analysis = self._roles.analyst.analyse(inquiry)
            yield AnalysisStep(hop, inquiry.question, analysis)
            needs, wider = _untried(analysis.needs, inquiry) if isinstance(analysis, Needs) else ((), False)
            if not needs or barren >= BARREN_HOPS:
                record.draft = self._roles.answerer.answer(inquiry)
                yield AnsweringStep(hop, record.draft)
                return
            if hop > self._settings.max_hops:
                raise self._meter.reached(Cap.HOPS)
            new = yield from self._find(record, hop, needs, wider)
            barren = 0 if new else barren + 1
            if _settles(new, inquiry.question):
                record.draft = self._roles.answerer.answer(record.inquiry)
                yield AnsweringStep(hop, record.draft)
                if record.draft.answered:
                    return

    def _find(
        self, record: Record, hop: int, needs: Sequence[Need], wider: bool
    ) -> Generator[Step, None, tuple[Fact, ...]]:
        """One hop's search and rephrasing; returns the new facts."""
        inquiry = record.inquiry
        shortlists = self._finder.shortlist(needs, wider=wider)
        for need, documents in zip(needs, shortlists, strict=True):
            yield ShortlistStep(hop, need, documents, wider)
        readings = self._finder.read(needs, shortlists, seconds=self._meter.seconds_left())
        for reading in readings:
            yield reading.step(hop)
        new = _new_facts([fact for reading in readings for fact in reading.facts], inquiry.facts)
        record.inquiry = grown(inquiry, needs, new, inquiry.question)
        if ended := next((reading for reading in readings if reading.cap or reading.error), None):
            record.end_hop(needs, shortlists, new, inquiry.question, inquiry.question)
            if ended.cap:
                raise self._meter.reached(ended.cap)
            if ended.error:
                raise ended.error
        settled = not new or _settles(new, inquiry.question)
        rephrased = inquiry.question if settled else self._roles.rephraser.rephrase(inquiry, new)
        record.inquiry = grown(inquiry, needs, new, rephrased)
        if rephrased != inquiry.question:
            yield RephrasingStep(hop, inquiry.question, rephrased)
        record.end_hop(needs, shortlists, new, inquiry.question, rephrased)
        return new

    def _last_attempt(self, record: Record) -> Iterator[Step]:
        """What can be said at the cap: by the model while calls, tokens and time allow, else the best fact."""
        try:
            record.draft = self._roles.answerer.answer(record.inquiry, last_attempt=True)
        except CapReached:
            record.draft = best_so_far(record.inquiry)
        yield AnsweringStep(len(record.hops) + 1, record.draft, last_attempt=True)


def _untried(needs: Sequence[Need], inquiry: Inquiry) -> tuple[tuple[Need, ...], bool]:
    """The needs that are new; if none is, those that were tried just once, to be looked for wider."""
    tried = [_key(need) for need in inquiry.tried]
    unique = list({_key(need): need for need in needs}.values())
    if new := tuple(need for need in unique if _key(need) not in tried):
        return new, False
    return tuple(need for need in unique if tried.count(_key(need)) == 1), True


def _settles(new: Sequence[Fact], question: str) -> bool:
    """Whether the question itself was looked up and a value found: nothing to rephrase, nothing to analyse again."""
    return any(fact.value and _key(fact.need) == _key(Need(question)) for fact in new)


def _key(need: Need) -> str:
    return " ".join(need.question.casefold().split()).rstrip(" ?.")


def _new_facts(found: Sequence[Fact], known: Sequence[Fact]) -> tuple[Fact, ...]:
    """What was found and is not known yet for the same need; the same quote may serve two needs."""
    seen = {(fact.document_id, fact.start, fact.end, _key(fact.need)) for fact in known}
    new = []
    for fact in found:
        place = (fact.document_id, fact.start, fact.end, _key(fact.need))
        if place not in seen:
            seen.add(place)
            new.append(fact)
    return tuple(new)
