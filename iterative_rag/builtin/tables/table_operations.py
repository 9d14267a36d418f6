"""Every way in which a question may be read on a table: conditions on rows, an operation, and the column of the answer.

The readings are only listed here; `reading_choice` weighs them. An operation is tried where the words of the question
hint at it, a look-up and a count always.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.tables.cell_values import Day, days, numbers, share
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.row_selections import RowSelection, selections
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion
from iterative_rag.computing.operands import written

# Most rows that are listed.
MOST_LISTED = 60
# Most readings and columns of a table that are looked at: a bound for odd tables.
MOST_READINGS, MOST_COLUMNS = 3000, 40
# Least share of a column's cells with a value for it to be ranked or summed.
MEASURABLE = 0.4


_ORDERED = frozenset({OperationHint.FIRST, OperationHint.LAST, OperationHint.OLDEST, OperationHint.NEWEST})


class TableOperation(StrEnum):
    LOOK_UP = "look-up"
    LIST = "list"
    FIRST = "first"  # of the selected rows, as listed or by date
    LAST = "last"
    NEXT = "next"  # the row after the selected one
    PREVIOUS = "previous"
    GREATEST = "greatest"
    SMALLEST = "smallest"
    COUNT = "count"
    SUM = "sum"
    DIFFERENCE = "difference"
    OFTENEST = "oftenest"  # the value that most rows have
    SAME = "same"  # the other rows with the value of the selected one


# Operations for which a few rows suffice. All others need every row of the table.
FEW_ROWS = frozenset(
    {
        TableOperation.LOOK_UP,
        TableOperation.LIST,
        TableOperation.NEXT,
        TableOperation.PREVIOUS,
        TableOperation.DIFFERENCE,
    }
)
CALCULATED = frozenset({TableOperation.SUM, TableOperation.DIFFERENCE})


@dataclass(frozen=True, slots=True)
class TableReading:
    """One reading of a question, and what it comes to.

    `rows` are those that the values rest on, `column` is that of the answer and `measure` that which is ranked or
    calculated with, -1 for none. `rank` counts from 1.
    """

    operation: TableOperation
    selection: RowSelection
    rows: tuple[int, ...]
    values: tuple[str, ...]
    column: int = -1
    measure: int = -1
    rank: int = 1
    rank_bits: int = 0
    expression: str = ""


def readings(question: TableQuestion, table: PageTable) -> list[TableReading]:
    """Every reading of a question on a table that comes to a value, up to MOST_READINGS."""
    by_key: dict[tuple[object, ...], TableReading] = {}
    columns = _Columns(question, table)
    for selection in selections(question, table):
        for reading in columns.read(selection):
            if reading.values and all(value.strip() for value in reading.values):
                key = (reading.operation, reading.selection, reading.values, reading.column, reading.measure)
                by_key.setdefault(key, reading)
            if len(by_key) >= MOST_READINGS:
                return list(by_key.values())
    return list(by_key.values())


class _Columns:
    """The columns of a table as values, and the readings of one selection of its rows."""

    def __init__(self, question: TableQuestion, table: PageTable) -> None:
        self._question, self._table = question, table
        self._width = range(min(len(table.header), MOST_COLUMNS))
        self._cells = [table.column(column) for column in self._width]
        self._numbers = {column: numbers(cells) for column, cells in enumerate(self._cells)}
        self._days = {column: days(cells) for column, cells in enumerate(self._cells)}
        self._numeric = [column for column in self._width if share(self._numbers[column]) >= MEASURABLE]
        amounts = {(word,) for column in self._numeric for word in content(table.header[column])}
        hints = question.hints & {OperationHint.SUM, OperationHint.MOST, OperationHint.LEAST}
        # "the total sales" where a column holds sales
        self._is_total = hints == {OperationHint.SUM} and question.asked[-1:] in amounts
        self._measured = question.query.superlative not in ("", "first", "last")
        self._dated = [column for column in self._width if share(self._days[column]) >= MEASURABLE]

    def read(self, selection: RowSelection) -> Iterator[TableReading]:
        hints = self._question.hints
        if selection.among:
            yield from self._beside(selection, selection.among)
            return
        if self._is_total and len(selection.rows) > 1:
            yield from self._summed(selection)
            return
        yield from self._look_up(selection)
        yield from self._count(selection)
        if hints & _ORDERED or self._question.ranks:
            yield from self._ordered(selection)
        if hints & {OperationHint.AFTER, OperationHint.BEFORE} and len(selection.rows) <= 2 and selection.conditions:
            yield from self._beside(selection, range(len(self._table.rows)))
        if hints & ({OperationHint.MOST, OperationHint.LEAST} | _ORDERED) and len(selection.rows) > 1:
            yield from self._ranked(selection)
        if hints & {OperationHint.SUM, OperationHint.COUNT} and len(selection.rows) > 1:
            yield from self._summed(selection)
        if OperationHint.DIFFERENCE in hints and len(selection.rows) > 1:
            yield from self._difference(selection)
        if hints & {OperationHint.OFTEN, OperationHint.MOST, OperationHint.LEAST} and len(selection.rows) > 2:
            yield from self._oftenest(selection)
        if OperationHint.SAME in hints and len(selection.rows) == 1 and selection.conditions:
            yield from self._same(selection)

    def _answers(
        self,
        operation: TableOperation,
        selection: RowSelection,
        row: int,
        *,
        measure: int = -1,
        rank: int = 1,
        bits: int = 0,
    ) -> Iterator[TableReading]:
        """The cells of one row as answers."""
        for column in self._width:
            value = self._cells[column][row]
            yield TableReading(operation, selection, (row,), (value,), column, measure, rank, bits)

    def _look_up(self, selection: RowSelection) -> Iterator[TableReading]:
        if len(selection.rows) == 1:
            yield from self._answers(TableOperation.LOOK_UP, selection, selection.rows[0])
        elif len(selection.rows) <= MOST_LISTED:
            for column in self._width:
                values = tuple(dict.fromkeys(filter(None, (self._cells[column][row] for row in selection.rows))))
                single = TableOperation.LOOK_UP if len(values) == 1 else TableOperation.LIST
                yield TableReading(single, selection, selection.rows, values, column)
            if selection.conditions and len(selection.rows) <= 4:
                for row in selection.rows:
                    yield from self._answers(TableOperation.LOOK_UP, selection, row)

    def _count(self, selection: RowSelection) -> Iterator[TableReading]:
        if not self._question.hints & {OperationHint.COUNT, OperationHint.SUM}:
            return
        yield TableReading(TableOperation.COUNT, selection, selection.rows, (str(len(selection.rows)),))
        for column in self._width:
            distinct = len({self._cells[column][row] for row in selection.rows if self._cells[column][row]})
            if distinct != len(selection.rows):
                yield TableReading(TableOperation.COUNT, selection, selection.rows, (str(distinct),), column)

    def _ordered(self, selection: RowSelection) -> Iterator[TableReading]:
        """The first, second or last of the selected rows."""
        rows, hints = selection.rows, self._question.hints
        if OperationHint.FIRST in hints:
            yield from self._answers(TableOperation.FIRST, selection, rows[0])
        if OperationHint.LAST in hints:
            yield from self._answers(TableOperation.LAST, selection, rows[-1])
        for rank, at in self._question.ranks:
            # "the third longest" is not the third as listed
            if 1 < rank <= len(rows) and not selection.bits >> at & 1 and not self._measured:
                yield from self._answers(TableOperation.FIRST, selection, rows[rank - 1], rank=rank, bits=1 << at)

    def _beside(self, selection: RowSelection, among: Sequence[int]) -> Iterator[TableReading]:
        """The row after or before the selected one."""
        hints = self._question.hints
        after, before = among.index(selection.rows[-1]) + 1, among.index(selection.rows[0]) - 1
        if OperationHint.AFTER in hints and after < len(among):
            yield from self._answers(TableOperation.NEXT, selection, among[after])
        if OperationHint.BEFORE in hints and before >= 0:
            yield from self._answers(TableOperation.PREVIOUS, selection, among[before])

    def _ranked(self, selection: RowSelection) -> Iterator[TableReading]:
        """The row with the greatest or smallest value of a column, or that of a rank."""
        ranks = [(1, 0), *((rank, 1 << at) for rank, at in self._question.ranks if rank > 1)]
        for measure in dict.fromkeys((*self._numeric, *self._dated)):
            values: Sequence[Fraction | Day | None] = (
                self._numbers[measure] if measure in self._numeric else self._days[measure]
            )
            known = [row for row in selection.rows if values[row] is not None]
            if len(known) < 2:
                continue
            for operation, reverse in ((TableOperation.GREATEST, True), (TableOperation.SMALLEST, False)):
                order = sorted(known, key=lambda row: values[row], reverse=reverse)  # type: ignore[arg-type,return-value]
                for rank, bits in ranks:
                    if rank > len(order) or bits & selection.bits:
                        continue
                    row = order[rank - 1]
                    tied = [other for other in order if values[other] == values[row]]
                    yield from self._answers(operation, selection, row, measure=measure, rank=rank, bits=bits)
                    if 1 < len(tied) <= 3 and OperationHint.PLURAL in self._question.hints and rank == 1:
                        for column in self._width:
                            cells = tuple(self._cells[column][other] for other in sorted(tied))
                            yield TableReading(operation, selection, tuple(sorted(tied)), cells, column, measure)

    def _summed(self, selection: RowSelection) -> Iterator[TableReading]:
        for measure in self._numeric:
            known = {row: amount for row in selection.rows if (amount := self._numbers[measure][row]) is not None}
            if len(known) > 1:
                expression = f"sum([{', '.join(map(written, known.values()))}])"
                said = (written(sum(known.values(), Fraction(0))),)
                yield TableReading(
                    TableOperation.SUM, selection, tuple(known), said, -1, measure, expression=expression
                )

    def _difference(self, selection: RowSelection) -> Iterator[TableReading]:
        """Between two rows."""
        for measure in dict.fromkeys((*self._numeric, *self._dated)):
            known = {row: value for row in selection.rows if (value := self._value(measure, row)) is not None}
            if len(known) != 2:
                continue
            low, high = sorted(known, key=lambda row: known[row])
            said, rows = (written(known[high] - known[low]),), tuple(sorted((low, high)))
            expression = f"{written(known[high])} - {written(known[low])}"
            yield TableReading(TableOperation.DIFFERENCE, selection, rows, said, -1, measure, expression=expression)

    def _value(self, measure: int, row: int) -> Fraction | None:
        """The number of a cell; of a date its year."""
        if measure in self._numeric:
            return self._numbers[measure][row]
        day = self._days[measure][row]
        return Fraction(day[0]) if day and day[0] else None

    def _oftenest(self, selection: RowSelection) -> Iterator[TableReading]:
        for column in self._width:
            counted = Counter(filter(None, (self._cells[column][row] for row in selection.rows)))
            if len(counted) < 2 or counted.most_common(1)[0][1] < 2:
                continue
            (value, most), (_, second) = counted.most_common(2)
            if most > second:
                rows = tuple(row for row in selection.rows if self._cells[column][row] == value)
                yield TableReading(TableOperation.OFTENEST, selection, rows, (value,), column)

    def _same(self, selection: RowSelection) -> Iterator[TableReading]:
        """The other rows that share a value with the selected one."""
        own = selection.rows[0]
        for shared in self._width:
            value = self._cells[shared][own]
            rows = tuple(row for row, cell in enumerate(self._cells[shared]) if cell == value and row != own)
            if not value or not 1 <= len(rows) <= 3:
                continue
            for column in self._width:
                values = tuple(self._cells[column][row] for row in rows)
                yield TableReading(TableOperation.SAME, selection, rows, values, column, shared)
