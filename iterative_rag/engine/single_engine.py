"""One search with the question as it is, corrected where it falls short, and an answer: corrective RAG.

Where the strategy reflects and finds that the answer does not answer what was asked, the gap is searched for once more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.driver import RunDriver
from iterative_rag.engine.hop import search
from iterative_rag.engine.run_state import Progress, RunState
from iterative_rag.types import Need, Step

# Searches of one question: the first, and those that reflection asks for.
SEARCHES = 3


class SingleEngine:
    """One engine serves one run."""

    def __init__(self, finder: DataFinder, drafting: Drafting, budget: RunBudget) -> None:
        self._finder, self._drafting, self._budget = finder, drafting, budget

    def steps(self, question: str) -> Iterator[Step]:
        return RunDriver(question, self._loop, self._drafting, self._budget, self._finder).steps()

    def _loop(self, state: RunState) -> Generator[Progress, None, RunState]:
        original = state.inquiry.original
        # When the loop is resumed, the search is done and only the answer is left.
        need = None if state.inquiry.tried else Need(original)
        while True:
            hop = state.next_hop
            if need:
                self._budget.check()
                wider = state.inquiry.looks(need) > 0
                state, _ = yield from search(state, self._finder, self._budget, [need], wider=wider)
            may_search = len(state.inquiry.tried) < SEARCHES
            drafted = yield from self._drafting.draft(hop, state.inquiry, last_attempt=True, may_search=may_search)
            state = state.with_draft(drafted)
            need = Need(drafted.gap or original)
            # The second search for a need is wider; a third would bring nothing else.
            if not drafted.search or state.inquiry.looks(need) > 1:
                return state
