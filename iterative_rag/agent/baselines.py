"""The two baselines that the loop is measured against: one retrieval and one answer, and no retrieval at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from iterative_rag.agent.data_finder import DataFinder
from iterative_rag.agent.metering import RunMeter
from iterative_rag.agent.outcome import Record, best_so_far, grown
from iterative_rag.agent.reading import Reading
from iterative_rag.errors import CapReached, IterativeRAGError, UsageError
from iterative_rag.protocols import Corpus, Roles
from iterative_rag.types import (
    AnsweringStep,
    Draft,
    Fact,
    FinalStep,
    Inquiry,
    Need,
    ShortlistedDocument,
    ShortlistStep,
    Step,
)

# How much a passage is trusted that nobody has read yet.
UNREAD = 0.5


class NaiveEngine:
    """Retrieves once with the question as it is and answers once (Lewis et al., 2020).

    A mind whose calls cost gets the passages themselves, so that a question is one call; the built-in mind can take
    an answer only from what it has read, so it reads the shortlist, once.
    """

    def __init__(self, roles: Roles, finder: DataFinder, meter: RunMeter, corpus: Corpus, *, reads: bool) -> None:
        self._roles, self._finder, self._meter, self._corpus, self._reads = roles, finder, meter, corpus, reads

    def steps(self, question: str) -> Iterator[Step]:
        record = Record(Inquiry(original=question, question=question), self._meter)
        record.begin_hop()
        need = Need(question)
        (documents,) = self._finder.shortlist([need], wider=False)
        yield ShortlistStep(1, need, documents)
        if self._reads:
            (reading,) = self._finder.read([need], [documents], seconds=self._meter.seconds_left())
            if reading.error:
                raise reading.error
        else:
            reading = self._passages(need, documents)
        yield reading.step(1)
        record.inquiry = grown(record.inquiry, [need], reading.facts, question)
        record.end_hop([need], [documents], reading.facts, question, question)
        yield from _answered(record, lambda: self._roles.answerer.answer(record.inquiry, last_attempt=True))

    def _passages(self, need: Need, documents: Sequence[ShortlistedDocument]) -> Reading:
        """The passages that the query hit, best first, as facts that quote all of themselves."""
        hits = sorted((hit for entry in documents for hit in entry.hits), key=lambda hit: -hit.score)
        sources = {entry.document_id: entry.source for entry in documents}
        facts = tuple(
            Fact(
                statement="Passage",
                quote=document.text[hit.start : hit.end],
                value="",
                document_id=hit.document_id,
                title=hit.title,
                source=sources[hit.document_id],
                start=hit.start,
                end=hit.end,
                need=need,
                score=UNREAD,
                page=document.page_at(hit.start),
            )
            for hit, document in ((hit, self._corpus.document(hit.document_id)) for hit in hits)
        )
        return Reading(need, facts, len(documents), 0, 0, 0, (), tuple(sources))


class ClosedBookEngine:
    """The mind alone. What it knows by heart is the floor under every figure of a corpus."""

    def __init__(self, roles: Roles, meter: RunMeter) -> None:
        if roles.recaller is None:
            raise UsageError(
                "The built-in mind knows nothing by heart: closed-book needs an LLM.",
                hint="Add --llm ollama/MODEL, or use the mode naive.",
            )
        self._recaller, self._meter = roles.recaller, meter

    def steps(self, question: str) -> Iterator[Step]:
        record = Record(Inquiry(original=question, question=question), self._meter)
        yield from _answered(record, lambda: self._recaller.recall(question))


def _answered(record: Record, answer: Callable[[], Draft]) -> Iterator[Step]:
    """The one answer and the end; a cap or a fault ends as in the loop."""
    try:
        record.draft = answer()
        yield AnsweringStep(1, record.draft)
    except CapReached as cap:
        record.cap, record.draft = cap, best_so_far(record.inquiry)
    except IterativeRAGError as fault:
        if not record.inquiry.facts:
            raise
        record.fault, record.draft = fault, best_so_far(record.inquiry)
    yield FinalStep(record.answer())
