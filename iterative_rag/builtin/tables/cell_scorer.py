"""The seam for a network that reads rows: it scores the cells of a table beside the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from iterative_rag.builtin.tables.table_model import PageTable


class CellScorer(Protocol):
    """Scores how likely each cell is the answer to a question. `name` identifies its weights.

    `scores` gives log odds for (row, column) of the rows that it was shown; a cell that is left out is unlikely.
    """

    @property
    def name(self) -> str: ...

    def scores(self, question: str, table: PageTable, rows: Sequence[int]) -> Mapping[tuple[int, int], float]: ...
