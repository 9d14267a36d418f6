"""One search with the question as it is, corrected where it falls short, and an answer: corrective RAG.

Where the strategy reflects and finds that the answer does not answer what was asked, the gap is searched for once more.
"""

from __future__ import annotations

from collections.abc import Iterator

from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.data_finder import DataFinder
from iterative_rag.engine.drafting import Drafting
from iterative_rag.engine.run_state import Record
from iterative_rag.engine.running import begun, search, to_its_end
from iterative_rag.types import Need, Step

# Searches of one question: the first, and those that reflection asks for.
SEARCHES = 3


class SingleEngine:
    """One engine serves one run."""

    def __init__(self, finder: DataFinder, drafting: Drafting, budget: RunBudget) -> None:
        self._finder, self._drafting, self._budget = finder, drafting, budget

    def steps(self, question: str) -> Iterator[Step]:
        record = begun(question, self._budget)
        return to_its_end(record, self._searches, self._drafting, self._finder)

    def _searches(self, record: Record) -> Iterator[Step]:
        original = record.inquiry.original
        # Taken up again, the search is done: what is left is the answer.
        need = None if record.inquiry.tried else Need(original)
        while True:
            hop = len(record.hops) + 1
            if need:
                self._budget.check()
                record.begin_hop()
                yield from search(record, self._finder, hop, [need], wider=record.inquiry.looks(need) > 0)
                record.end_hop(original)
            may_search = len(record.inquiry.tried) < SEARCHES
            drafted = yield from self._drafting.draft(hop, record.inquiry, last_attempt=True, may_search=may_search)
            record.take(drafted)
            need = Need(drafted.gap or original)
            # The same need twice is looked for wider; a third time is going round.
            if not drafted.search or record.inquiry.looks(need) > 1:
                return
