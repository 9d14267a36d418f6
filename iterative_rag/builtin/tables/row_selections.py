"""The sets of rows that a question may mean: those that meet some of its conditions together."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from iterative_rag.builtin.tables.row_conditions import RowCondition, conditions
from iterative_rag.builtin.tables.table_model import PageTable
from iterative_rag.builtin.tables.table_question import TableQuestion
from iterative_rag.text.patterns import lazy_pattern

# Most selections for each number of conditions, and most stretches of a question that are combined.
MOST_SELECTIONS, MOST_STRETCHES = 60, 6
# The first or second cell of a row that sums up the others.
_SUMMING = lazy_pattern(r"\W*(?:grand |sub-?)?totals?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RowSelection:
    conditions: tuple[RowCondition, ...]
    rows: tuple[int, ...]

    @property
    def bits(self) -> int:
        return sum(one.bits for one in self.conditions)

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(one.column for one in self.conditions)


def selections(question: TableQuestion, table: PageTable) -> list[RowSelection]:
    """The combinations of up to three conditions that rows meet, and all rows. Rows of totals only by their name."""
    stretches = conditions(question, table)
    stretches.sort(key=lambda options: (-options[0].quality, len(options[0].rows)))
    summing = frozenset(
        number for number, row in enumerate(table.rows) if any(_SUMMING.match(cell.text) for cell in row.cells[:2])
    )
    others = tuple(number for number in range(len(table.rows)) if number not in summing)
    found = [RowSelection((), others or tuple(range(len(table.rows))))]
    for size in (1, 2, 3):
        for chosen in itertools.combinations(stretches[: MOST_STRETCHES + 4 * (size == 1)], size):
            for combined in itertools.product(*(options if size < 3 else options[:2] for options in chosen)):
                if selection := _joined(combined, summing):
                    found.append(selection)
                if len(found) >= MOST_SELECTIONS * size:
                    break
    return found


def _joined(combined: Sequence[RowCondition], summing: frozenset[int]) -> RowSelection | None:
    """Rows that meet all conditions; of two names in one column, either: "Norway and Chile"."""
    taken = 0
    by_column: dict[int, list[RowCondition]] = {}
    for one in combined:
        if one.bits & taken:
            return None
        taken |= one.bits
        by_column.setdefault(one.column, []).append(one)
    rows: frozenset[int] | None = None
    for group in by_column.values():
        named = [one.rows for one in group if not one.quantified]
        own = frozenset().union(*named) if named else group[0].rows
        for one in group:
            if one.quantified:
                own &= one.rows
        rows = own if rows is None else rows & own
    rows = rows and (rows - summing or rows)
    return RowSelection(tuple(combined), tuple(sorted(rows))) if rows else None
