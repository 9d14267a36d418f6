"""The two baselines that the loop is measured against: one retrieval and one answer, and no retrieval at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.run_state import Record, grown
from iterative_rag.engine.running import begun, search, to_its_end
from iterative_rag.errors import UsageError
from iterative_rag.protocols import Corpus, Roles
from iterative_rag.retrieval.document_reader import NeedReading
from iterative_rag.types import AnsweringStep, Fact, Need, ShortlistedDocument, ShortlistStep, Step

# How much a passage is trusted that nobody has read yet.
UNREAD = 0.5


class NaiveEngine:
    """Retrieves once with the question as it is and answers once (Lewis et al., 2020).

    A backend whose calls cost gets the passages themselves, so that a question is one call. The built-in backend can
    take an answer only from what it has read, so it reads the shortlist, once.
    """

    def __init__(
        self, finder: DataFinder, drafting: Drafting, budget: RunBudget, corpus: Corpus, *, reads: bool
    ) -> None:
        self._finder, self._drafting, self._budget, self._corpus, self._reads = finder, drafting, budget, corpus, reads

    def steps(self, question: str) -> Iterator[Step]:
        record = begun(question, self._budget)
        return to_its_end(record, self._once, self._drafting, self._finder)

    def _once(self, record: Record) -> Iterator[Step]:
        if not record.inquiry.tried:  # taken up again, only the answer is left
            yield from self._retrieved(record)
        record.take((yield from self._drafting.draft(1, record.inquiry, last_attempt=True)))

    def _retrieved(self, record: Record) -> Iterator[Step]:
        need = Need(record.inquiry.original)
        record.begin_hop()
        if self._reads:
            yield from search(record, self._finder, 1, [need])
        else:
            (documents,) = self._finder.shortlist([need], wider=False)
            yield ShortlistStep(1, need, documents)
            reading = self._passages(need, documents)
            yield reading.step(1)
            record.inquiry = grown(record.inquiry, [need], reading.facts, need.question)
            record.found([need], [entry.title for entry in documents], reading.facts)
        record.end_hop(need.question)

    def _passages(self, need: Need, documents: Sequence[ShortlistedDocument]) -> NeedReading:
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
        return NeedReading(need, facts, len(documents), 0, 0, 0, (), tuple(sources))


class ClosedBookEngine:
    """The backend alone. What it knows by heart is the floor under every figure of a corpus."""

    def __init__(self, roles: Roles, budget: RunBudget) -> None:
        if roles.recaller is None:
            raise UsageError(
                "The built-in backend knows nothing by heart: closed-book needs an LLM.",
                hint="Add --llm ollama/MODEL, or use the mode naive.",
            )
        self._recaller, self._answerer, self._budget = roles.recaller, roles.answerer, budget

    def steps(self, question: str) -> Iterator[Step]:
        record = begun(question, self._budget)
        return to_its_end(record, self._by_heart, Drafting(self._answerer))

    def _by_heart(self, record: Record) -> Iterator[Step]:
        record.draft = self._recaller.recall(record.inquiry.original)
        yield AnsweringStep(1, record.draft)
