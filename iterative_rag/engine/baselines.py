"""The two baselines that the loop is measured against: one retrieval and one answer, and no retrieval at all."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.correction.corrector import Corrector
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafted, Drafting
from iterative_rag.engine.driver import Engine, RunDriver
from iterative_rag.engine.hop import search
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.engine.strategies import RunComponents, plain_drafting
from iterative_rag.errors import UsageError
from iterative_rag.protocols import Corpus, Roles
from iterative_rag.retrieval.need_reading import NeedReading
from iterative_rag.types import AnsweringStep, Fact, Need, ShortlistedDocument, ShortlistStep, Step

# The score of a passage that was not read, as a fact.
UNREAD_SCORE = 0.5


def naive(run: RunComponents) -> Engine:
    corrector = Corrector(run.corpus, run.settings, web=run.web, metered=run.metered) if run.web else None
    finder = DataFinder(run.corpus, run.reader, run.settings, corrector=corrector)
    return NaiveEngine(finder, plain_drafting(run), run.budget, run.corpus, reads=not run.metered)


def closed_book(run: RunComponents) -> Engine:
    return ClosedBookEngine(run.roles, run.budget)


class NaiveEngine:
    """Retrieves once with the question as it is and answers once (Lewis et al., 2020).

    A metered backend is given the passages themselves, so that a question is one call. The built-in backend can
    answer only from what it has read, so it reads the shortlist once.
    """

    def __init__(
        self, finder: DataFinder, drafting: Drafting, budget: RunBudget, corpus: Corpus, *, reads: bool
    ) -> None:
        self._finder, self._drafting, self._budget, self._corpus, self._reads = finder, drafting, budget, corpus, reads

    def steps(self, question: str) -> Iterator[Step]:
        return RunDriver(question, self._loop, self._drafting, self._budget, self._finder).steps()

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        if not state.inquiry.tried:  # when the loop is resumed, only the answer is left
            state = yield from self._retrieve(state, Need(state.inquiry.original))
        return state.with_draft((yield from self._drafting.draft(1, state.inquiry, last_attempt=True)))

    def _retrieve(self, state: RunState, need: Need) -> Generator[Progress, None, RunState]:
        if self._reads:
            state, _ = yield from search(state, self._finder, self._budget, [need])
            return state
        started = self._budget.usage()
        (documents,) = self._finder.shortlist([need], wider=False)
        yield ShortlistStep(1, need, documents)
        reading = self._passages(need, documents)
        yield reading.step(1)
        titles = [entry.title for entry in documents]
        state = state.with_hop([need], titles, reading.facts, self._budget.used_since(started))
        yield state
        return state

    def _passages(self, need: Need, documents: Sequence[ShortlistedDocument]) -> NeedReading:
        """The passages that the query hit, best first, as facts that quote the whole passage."""
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
                score=UNREAD_SCORE,
                page=document.page_at(hit.start),
                retrieved=document.retrieved,
                url=document.link,
                copies=document.copies,
            )
            for hit, document in ((hit, self._corpus.document(hit.document_id)) for hit in hits)
        )
        return NeedReading(need, facts, len(documents), 0, 0, 0, (), tuple(sources))


class ClosedBookEngine:
    """The backend alone, without a corpus: what a corpus adds is measured against it."""

    def __init__(self, roles: Roles, budget: RunBudget) -> None:
        if roles.recaller is None:
            raise UsageError(
                "The built-in backend knows nothing by heart: closed-book needs an LLM.",
                hint="Add --llm ollama/MODEL, or use the mode naive.",
            )
        self._recaller, self._answerer, self._budget = roles.recaller, roles.answerer, budget

    def steps(self, question: str) -> Iterator[Step]:
        return RunDriver(question, self._loop, Drafting(self._answerer, metered=True), self._budget).steps()

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        draft = self._recaller.recall(state.inquiry.original)
        yield AnsweringStep(1, draft)
        return state.with_draft(Drafted(draft))
