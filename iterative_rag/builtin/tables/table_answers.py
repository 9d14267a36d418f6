"""Answers a question from the tables and lists of a page, where one of them accounts for the whole of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import INCOMPLETE
from iterative_rag.builtin.tables.cell_values import cell_value, header_unit
from iterative_rag.builtin.tables.page_tables import PageTable, TableKind, TableRow
from iterative_rag.builtin.tables.reading_choice import ChosenReading, choose, trust, trust_features
from iterative_rag.builtin.tables.table_operations import CALCULATED, TableOperation, TableReading
from iterative_rag.builtin.tables.table_question import TableQuestion, read_table_question

# Most rows that are quoted one by one; those beyond are quoted as one range of the table, up to so many characters.
MOST_QUOTED, LONGEST_RANGE = 12, 6000
_AND = " and "


@dataclass(frozen=True, slots=True)
class TableAnswer:
    """An answer from a table. `quotes` are the rows that it rests on, verbatim, each with a statement in words.

    `trust` is the probability that it is right, 0 to 1.
    """

    values: tuple[str, ...]
    quotes: tuple[tuple[str, str], ...]
    trust: float
    operation: TableOperation

    @property
    def value(self) -> str:
        return listed(self.values)


def listed(values: Sequence[str]) -> str:
    """ "A, B and C"."""
    return f"{', '.join(values[:-1])}{_AND}{values[-1]}" if len(values) > 1 else values[0]


def table_answers(query: Query, text: str, page_tables: Sequence[PageTable]) -> list[TableAnswer]:
    """The answers of the tables of a page with this text, the most trusted first."""
    if query.kind in {AnswerKind.YES_NO, AnswerKind.CHOICE}:
        return []
    question = read_table_question(query)
    picks = picks_of(question, page_tables)
    answers = [_answer(pick, text, trust(question, pick, figures)) for pick, figures in picks]
    return sorted(answers, key=lambda answer: -answer.trust)


def picks_of(
    question: TableQuestion, page_tables: Sequence[PageTable]
) -> list[tuple[ChosenReading, Mapping[str, float]]]:
    """The likeliest reading of each table of a page that has the names of the question, and what tells how far it is to
    be trusted."""
    fit = [
        table
        for table in page_tables
        if table.kind is not TableKind.INFOBOX and table.rows and names_known(question.query, table)
    ]
    picks = [pick for table in fit if (pick := choose(question, table)) is not None]
    figures = page_figures(question, picks)
    return [(pick, trust_features(question, pick) | own) for pick, own in zip(picks, figures, strict=True)]


def page_figures(question: TableQuestion, picks: Sequence[ChosenReading]) -> list[dict[str, float]]:
    """What speaks against readings of the tables of one page: another table holds more of the question's words, has
    more rows or a likelier reading. A count of one is hardly ever what is asked for."""
    asked = {token.stem for token in question.tokens if token.content}
    shares, sizes = [], []
    for table in (pick.table for pick in picks):
        words = asked - set(content(table.title))
        shares.append(len(words & _held(table)) / max(1, len(words)))
        sizes.append(math.log(len(table.rows)))
    return [
        {
            "fewer words": max(shares) - share,
            "fewer rows": max(sizes) - size,
            "lower score": (max(other.score for other in picks) - pick.score) / 10,
            "counts one": float(pick.reading.operation is TableOperation.COUNT and pick.reading.values == ("1",)),
        }
        for pick, share, size in zip(picks, shares, sizes, strict=True)
    ]


@lru_cache(maxsize=256)
def _held(table: PageTable) -> frozenset[str]:
    """The words of a table and of what is said of it."""
    rows = (row.text for row in table.rows)
    return frozenset(content(" ".join((table.section, table.caption, *table.header, *rows))))


def names_known(query: Query, table: PageTable) -> bool:
    """Whether every name of the question stands in the table or in what is said of it."""
    if not query.name_words:
        return True
    known = set(content(f"{table.context} {' '.join(table.header)}"))
    # "below 300 kelvins": a number is compared with cells, and no name.
    names = (set(name) for name in query.names if not all(word.isdigit() for word in name))
    unknown = [name - known for name in names if not name <= known]
    if not unknown:
        return True
    rows = [set(content(row.text)) for row in table.rows]
    return all(any(name <= row for row in rows) for name in unknown)


# --- how it is said --------------------------------------------------------------------------------


def _answer(pick: ChosenReading, text: str, chance: float) -> TableAnswer:
    reading, table = pick.reading, pick.table
    rows = [table.rows[number] for number in reading.rows]
    said = [row_statement(table, row) for row in rows]
    said[0] = f"{_said(pick)}{said[0]}"
    values = tuple(_with_unit(reading, table, value) for value in reading.values)
    quotes = tuple(zip(_quotes(rows, text), said, strict=False))
    return TableAnswer(values, quotes, chance, reading.operation)


def _quotes(rows: Sequence[TableRow], text: str) -> Iterator[str]:
    """Each row, and those beyond the most that are quoted as one range."""
    beyond = text[rows[MOST_QUOTED - 1].start : rows[-1].end] if len(rows) > MOST_QUOTED else ""
    single = MOST_QUOTED - 1 if beyond and len(beyond) <= LONGEST_RANGE else MOST_QUOTED
    yield from (row.text for row in rows[:single])
    if len(rows) > single and len(beyond) <= LONGEST_RANGE:
        yield beyond


def row_statement(table: PageTable, row: TableRow) -> str:
    """A row as a sentence: "Masts: Mast: Long Needle; Height (m): 402"."""
    if table.kind is TableKind.LIST:
        return f"{table.title}, {table.section}: {row.text}" if table.section else f"{table.title}: {row.text}"
    named = "; ".join(
        f"{name}: {cell.text}" if name else cell.text
        for name, cell in zip(table.header, row.cells, strict=True)
        if cell.text
    )
    return f"{table.title}: {named}"


def _said(pick: ChosenReading) -> str:
    """What was done with the rows, before the first of them; "" for a single cell."""
    reading, table = pick.reading, pick.table
    measure = table.header[reading.measure] if reading.measure >= 0 else ""
    many = len(reading.selection.rows)
    match reading.operation:
        case TableOperation.COUNT:
            return f"{reading.values[0]} of {len(table.rows)} rows: "
        case TableOperation.GREATEST | TableOperation.SMALLEST:
            rank = f"number {reading.rank} from the {reading.operation}" if reading.rank > 1 else reading.operation
            return f"{rank} {measure} of {many} rows: "
        case TableOperation.SUM | TableOperation.DIFFERENCE:
            return f"{measure}: {reading.expression} = {reading.values[0]}: "
        case TableOperation.LIST if not table.complete:
            return f"{many} rows {INCOMPLETE}: "
        case TableOperation.LIST | TableOperation.OFTENEST | TableOperation.SAME:
            return f"{len(reading.rows)} of {len(table.rows)} rows: "
    return ""


def _with_unit(reading: TableReading, table: PageTable, value: str) -> str:
    """A bare number with the unit that the header of its column names."""
    calculated = reading.operation in CALCULATED
    column = reading.measure if calculated else reading.column
    if column < 0 or cell_value(value).number is None or not value[-1:].isdigit():
        return value
    if calculated and cell_value(table.rows[reading.rows[0]].cells[column].text).day:
        return value
    unit = header_unit(table.header[column])
    return f"{value} {unit}" if unit else value
