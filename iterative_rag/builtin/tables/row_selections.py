"""The sets of rows that a question may mean: those that meet some of its conditions together.

A condition is a cell that the question names, or a bound on a column.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from iterative_rag.builtin.language.function_words import STOPWORDS, stem, word_set, words
from iterative_rag.builtin.tables.cell_values import Day, days, numbers, share
from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion, ValueBound, canonical
from iterative_rag.text.patterns import lazy_pattern

# Longer cells are read up to this word; rows beyond this many are not compared.
MOST_WORDS, MOST_ROWS = 40, 400
# Most columns that the same words are looked for in.
MOST_COLUMNS = 3
# Cells of results begin with a letter: "W 26–6".
_RESULTS = {
    stem(word): letter
    for letter, said in (
        ("w", "won win wins victory"),
        ("l", "lost loss lose losing"),
        ("d", "drew draw"),
        ("t", "tie"),
    )
    for word in said.split()
}
_DENIALS = word_set("no not without never don't doesn't didn't")
_NOTHING = frozenset({"none", "n/a", "no", "nil"})
# Most words between a denial and what it denies.
_FARTHEST = 4
# Least share of a column's cells that must be comparable for a bound on it.
COMPARABLE = 0.5


@dataclass(frozen=True, slots=True)
class RowCondition:
    """Rows that meet a condition on a column. `first` to `last` are the tokens of the question that state it.

    `quality` is the share of the cell's words that the question has, 1 for a bound; `quantified` marks a bound,
    `excluded` all rows but those of a cell: "other than Norway".
    """

    column: int
    rows: frozenset[int]
    first: int
    last: int
    quality: float
    quantified: bool = False
    excluded: bool = False

    @property
    def bits(self) -> int:
        return ((1 << (self.last + 1)) - 1) & ~((1 << self.first) - 1)


def conditions(question: TableQuestion, table: PageTable) -> list[list[RowCondition]]:
    """The conditions by the words that state them: for each stretch of the question the columns it may be about, best
    first. Stretches do not overlap unless one is part of another."""
    named = _named(question, table)
    grouped: dict[tuple[int, int], list[RowCondition]] = defaultdict(list)
    for condition in [*named, *_dated(question, table), *_empty(question, table)]:
        grouped[condition.first, condition.last].append(condition)
    spans = [
        span
        for span in grouped
        if not any(_inside(span, other) and _better(grouped[other], grouped[span]) for other in grouped)
    ]
    stretches = [
        sorted(grouped[span], key=lambda condition: -condition.quality)[:MOST_COLUMNS] for span in sorted(spans)
    ]
    if OperationHint.OTHER in question.hints:
        stretches = [[*options, *_excluding(options[0], table)] for options in stretches]
    return [*stretches, *(limited for bound in question.bounds if (limited := _bounded(question, bound, table)))]


def _excluding(condition: RowCondition, table: PageTable) -> Iterator[RowCondition]:
    """All rows but those of a condition."""
    others = frozenset(range(len(table.rows))) - condition.rows
    if others and not condition.quantified:
        yield replace(condition, rows=others, quantified=True, excluded=True)


def _inside(span: tuple[int, int], other: tuple[int, int]) -> bool:
    return other != span and other[0] <= span[0] and span[1] <= other[1]


def _better(longer: list[RowCondition], shorter: list[RowCondition]) -> bool:
    """Whether the longer stretch makes the shorter one superfluous: it names a cell in the same columns."""
    return {condition.column for condition in shorter} <= {condition.column for condition in longer} or max(
        condition.quality for condition in longer
    ) >= max(condition.quality for condition in shorter)


def _named(question: TableQuestion, table: PageTable) -> list[RowCondition]:
    """Cells of which the question has all words, or a stretch of them."""
    stems = [token.stem for token in question.tokens]
    content = [token.content for token in question.tokens]
    places: dict[str, list[int]] = defaultdict(list)
    for at, word in enumerate(stems):
        places[word].append(at)
        if word in _RESULTS:
            places[_RESULTS[word]].append(at)
    headers = {canonical(word) for name in table.header for word in words(name)}
    stretches: dict[tuple[int, int, int], tuple[set[int], float]] = {}
    for number, row in enumerate(table.rows[:MOST_ROWS]):
        for column, cell in enumerate(row.cells):
            said = [canonical(word) for word in words(cell.text)[:MOST_WORDS]]
            for first, last, quality in _stretches(said, stems, content, places, headers):
                rows, best = stretches.setdefault((first, last, column), (set(), 0.0))
                rows.add(number)
                stretches[first, last, column] = (rows, max(best, quality))
    return [
        RowCondition(column, frozenset(rows), first, last, quality)
        for (first, last, column), (rows, quality) in stretches.items()
    ]


def _stretches(
    cell: list[str], stems: list[str], content: list[bool], places: dict[str, list[int]], headers: set[str]
) -> list[tuple[int, int, float]]:
    """The longest stretches of a question that stand in a cell, with the share of the cell's words in them."""
    stretches: list[tuple[int, int, float]] = []
    weights = [0.2 if word in STOPWORDS else 1.0 for word in cell]
    total = sum(weights)
    for at, word in enumerate(cell):
        for start in places.get(word, ()):
            if at and word != stems[start]:
                continue  # a letter of a result stands first
            if at and start and cell[at - 1] == stems[start - 1]:
                continue  # part of a stretch that began before
            size = 1
            while at + size < len(cell) and start + size < len(stems) and cell[at + size] == stems[start + size]:
                size += 1
            held = range(start, start + size)
            telling = [stems[n] for n in held if content[n] and (len(stems[n]) > 1 or stems[n].isdigit())]
            quality = sum(weights[at : at + size]) / total
            if not telling or (quality < 1 and set(telling) <= headers):
                continue
            stretches.append((start, start + size - 1, quality))
    return stretches


def _dated(question: TableQuestion, table: PageTable) -> list[RowCondition]:
    """Rows of a date of the question, however it is written, or of a day in the year or month it names."""
    options = []
    for day, first, last in question.days:
        for column in range(len(table.header)):
            cells = days(table.column(column))
            rows = frozenset(number for number, own in enumerate(cells) if own and _covers(day, own))
            if share(cells) < COMPARABLE:
                continue
            if rows:
                options.append(RowCondition(column, rows, first, last, 1.0))
            # "the tallest in 1940" is the tallest of what there was by then.
            earlier = frozenset(
                number for number, own in enumerate(cells) if own and own[: len(day)] <= (day[0], 12, 31)
            )
            if question.hints & {OperationHint.MOST, OperationHint.LEAST} and earlier and earlier != rows:
                options.append(RowCondition(column, earlier, first, last, 1.0, quantified=True))
    return options


def _empty(question: TableQuestion, table: PageTable) -> Iterator[RowCondition]:
    """Rows without a value in a column that the question denies: "Which clubs have no nickname?"."""
    for at, token in enumerate(question.tokens):
        if token.text not in _DENIALS:
            continue
        for last in range(at + 1, min(at + 1 + _FARTHEST, len(question.tokens))):
            for column, name in enumerate(table.header):
                rows = frozenset(number for number, cell in enumerate(table.column(column)) if _is_empty(cell))
                if rows and question.tokens[last].stem in {canonical(word) for word in words(name)}:
                    yield RowCondition(column, rows, at, last, 1.0)


def _is_empty(cell: str) -> bool:
    return not cell.strip("-–— ") or cell.casefold() in _NOTHING


def _covers(asked: Day, own: Day) -> bool:
    return all(wanted in (0, given) for wanted, given in zip(asked, own, strict=True))


def _bounded(question: TableQuestion, bound: ValueBound, table: PageTable) -> list[RowCondition]:
    """A bound on each column whose cells can be compared with it, those whose header the question names first."""
    asked = {token.stem for token in question.tokens}
    options: list[tuple[bool, RowCondition]] = []
    for column, name in enumerate(table.header):
        cells = table.column(column)
        values = days(cells) if bound.timed else numbers(cells)
        if share(values) < COMPARABLE:
            continue
        rows = frozenset(number for number, value in enumerate(values) if value is not None and _within(value, bound))
        if rows:
            told = bool({canonical(word) for word in words(name)} & asked)
            options.append((not told, RowCondition(column, rows, bound.first, bound.last, 1.0, quantified=True)))
    options.sort(key=lambda option: option[0])
    return [condition for _, condition in options[: 2 * MOST_COLUMNS]]


def _within(value: Fraction | Day, bound: ValueBound) -> bool:
    above = bound.low is None or _order(value, bound.low) >= bound.strict
    return above and (bound.high is None or _order(value, bound.high) <= -bound.strict)


def _order(value: Fraction | Day, limit: Fraction | Day) -> int:
    """-1, 0 or 1; days are compared as exactly as the limit is given."""
    if isinstance(value, tuple) and isinstance(limit, tuple):
        known = 1 + bool(limit[1]) + bool(limit[2])
        return (value[:known] > limit[:known]) - (value[:known] < limit[:known])
    assert isinstance(value, Fraction)
    assert isinstance(limit, Fraction)
    return (value > limit) - (value < limit)


# Most selections for each number of conditions, and most stretches of a question that are combined.
MOST_SELECTIONS, MOST_STRETCHES = 60, 6
# The first or second cell of a row that sums up the others.
_SUMMING = lazy_pattern(r"\W*(?:grand |sub-?)?totals?\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RowSelection:
    """Rows that meet conditions; `among`: the rows that the one after or before them is looked for in, if not all."""

    conditions: tuple[RowCondition, ...]
    rows: tuple[int, ...]
    among: tuple[int, ...] = ()

    @property
    def bits(self) -> int:
        return sum(condition.bits for condition in self.conditions)

    @property
    def columns(self) -> frozenset[int]:
        return frozenset(condition.column for condition in self.conditions)


def selections(question: TableQuestion, table: PageTable) -> list[RowSelection]:
    """The combinations of up to three conditions that rows meet, and all rows. Rows of totals only by their name."""
    stretches = conditions(question, table)
    stretches.sort(key=lambda options: (-options[0].quality, len(options[0].rows)))
    summing = frozenset(
        number for number, row in enumerate(table.rows) if any(_SUMMING.match(cell.text) for cell in row.cells[:2])
    )
    others = tuple(number for number in range(len(table.rows)) if number not in summing)
    selected = [RowSelection((), others or tuple(range(len(table.rows))))]
    for size in (1, 2, 3):
        for chosen in itertools.combinations(stretches[: MOST_STRETCHES + 4 * (size == 1)], size):
            for combined in itertools.product(*(options if size < 3 else options[:2] for options in chosen)):
                if selection := _joined(combined, summing):
                    selected.append(selection)
                if len(selected) >= MOST_SELECTIONS * size:
                    break
    if question.hints & {OperationHint.AFTER, OperationHint.BEFORE}:
        selected += _beside(stretches[:MOST_STRETCHES])
    return selected


def _beside(stretches: Sequence[Sequence[RowCondition]]) -> Iterator[RowSelection]:
    """A row, and the rows of another condition that its neighbour is one of: "the next Whig after Polk"."""
    for own, other in itertools.permutations(stretches, 2):
        for condition, wanted in itertools.product(own, other[:2]):
            if len(condition.rows) == 1 and not condition.bits & wanted.bits:
                among = tuple(sorted(condition.rows | wanted.rows))
                yield RowSelection((condition, wanted), tuple(condition.rows), among)


def _joined(combined: Sequence[RowCondition], summing: frozenset[int]) -> RowSelection | None:
    """Rows that meet all conditions; of two names in one column, either: "Norway and Chile"."""
    taken = 0
    by_column: dict[int, list[RowCondition]] = {}
    for condition in combined:
        if condition.bits & taken:
            return None
        taken |= condition.bits
        by_column.setdefault(condition.column, []).append(condition)
    rows: frozenset[int] | None = None
    for group in by_column.values():
        named = [condition.rows for condition in group if not condition.quantified]
        own = frozenset().union(*named) if named else group[0].rows
        for condition in group:
            if condition.quantified:
                own &= condition.rows
        rows = own if rows is None else rows & own
    rows = rows and (rows - summing or rows)
    return RowSelection(tuple(combined), tuple(sorted(rows))) if rows else None
