"""Whether a reading of a question on a table accounts for everything that decides its answer."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content, ordinal, stem, word_set, words
from iterative_rag.builtin.language.lexicon import SUPERLATIVES, AnswerKind, kind_of_noun
from iterative_rag.builtin.tables.cell_values import cell_value, column_kinds, has_words
from iterative_rag.builtin.tables.page_tables import PageTable, TableKind
from iterative_rag.builtin.tables.table_operations import TableOperation, TableReading
from iterative_rag.builtin.tables.table_question import OperationHint, TableQuestion

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
CALCULATED = frozenset({TableOperation.SUM, TableOperation.AVERAGE, TableOperation.DIFFERENCE, TableOperation.RANGE})
_VALUES = frozenset({AnswerKind.NUMBER, AnswerKind.YEAR, AnswerKind.DATE})
# Columns of what somebody did or got, not of who it was.
_DEEDS = frozenset(stem(word) for word in word_set("prize award subject field work film album title"))
_RANKS = frozenset(stem(word) for word in word_set("rank ranking position place"))
_LIFE = frozenset(stem(word) for word in word_set("born birth died death"))
# "The first" may be the first as listed, "the fastest" have the least time or the greatest speed.
_EITHER_WAY = frozenset({"first", "last", "fastest", "least", "nearest", "closest"})


def is_sound(question: TableQuestion, table: PageTable, reading: TableReading, left: int) -> bool:
    """Whether a reading may be answered with. `left` are the tokens that nothing accounts for, as bits.

    Names, years, ranks and bounds of the question must all be used, what is counted or calculated must be named, and
    all rows must be there where all are needed.
    """
    if not all(_is_of_kind(question.kind, value) for value in reading.values) or _repeats(question, reading):
        return False
    looked_up = reading.operation is TableOperation.LOOK_UP
    if looked_up and (
        _is_headed_otherwise(question, table.header[reading.column]) or _is_of_other_life(question, table, reading)
    ):
        return False
    if table.kind is TableKind.LIST and reading.column > 0 and question.kind not in _VALUES:
        return False  # the entries of a list are their names
    if question.kind is AnswerKind.NUMBER and reading.column >= 0 and reading.operation is not TableOperation.COUNT:
        stems = frozenset(content(table.header[reading.column]))
        if question.asked and not stems & (question.near_asked | question.measure | frozenset(question.asked)):
            return False  # a length is no number of bridges
    query, used = question.query, reading.selection.bits | reading.rank_bits
    if left & question.bits(query.name_words | {str(year) for year in query.years}):
        return False
    if reading.operation not in FEW_ROWS and not table.complete:
        return False
    if any(rank > 1 and not used >> at & 1 for rank, at in question.ranks):
        return False
    if not _superlative_used(question, table, reading):
        return False
    if sum(condition.quantified for condition in reading.selection.conditions) < len(question.bounds):
        return False
    match reading.operation:
        case TableOperation.COUNT:
            return _counts_asked(question, table, left)
        case TableOperation.GREATEST | TableOperation.SMALLEST:
            dated = bool(question.hints & {OperationHint.OLDEST, OperationHint.NEWEST})
            return dated or _measure_named(question, table, reading)
        case operation if operation in CALCULATED:
            return _measure_named(question, table, reading)
    return True


def _is_of_kind(kind: AnswerKind, value: str) -> bool:
    """Whether a cell has the kind that is asked for."""
    if kind is AnswerKind.NUMBER:
        return cell_value(value).number is not None
    if kind in {AnswerKind.YEAR, AnswerKind.DATE}:
        return cell_value(value).day is not None
    if kind is AnswerKind.PERSON and _is_rank(value):
        return False
    return kind not in {AnswerKind.PERSON, AnswerKind.PLACE} or has_words(value)


def _is_rank(cell: str) -> bool:
    """Whether a cell is a rank in words, as "Second"."""
    return all(ordinal(word) is not None for word in words(cell))


def _is_headed_otherwise(question: TableQuestion, header: str) -> bool:
    """Whether a header says that its column holds another kind than is asked for: a town or a year for "Who", a rank
    for an amount."""
    stems = content(header.partition("(")[0])
    if not stems or set(stems) & {*question.asked, *question.near_asked}:
        ranked = bool(_RANKS & set(stems)) and not _RANKS & set(question.asked)
        return question.kind is AnswerKind.NUMBER and ranked
    if question.kind is not AnswerKind.PERSON:
        return False
    kind = kind_of_noun(words(header.partition("(")[0])[-1])
    return kind in _VALUES | {AnswerKind.PLACE} or bool(_DEEDS & set(stems))


def _is_of_other_life(question: TableQuestion, table: PageTable, reading: TableReading) -> bool:
    """Whether a birth or death is that of the person whom a row is about, and the question names another one of the
    row: "Died on" of a mayor where the question names the successor."""
    if not _LIFE & set(question.query.relation) & set(content(table.header[reading.column])):
        return False
    worded = (at for at, kind in enumerate(column_kinds(table)) if kind == "words")
    subject = next((at for at in worded if not all(map(_is_rank, table.column(at)))), 0)
    named = {condition.column for condition in reading.selection.conditions if not condition.quantified}
    return bool(named) and subject not in named


def _repeats(question: TableQuestion, reading: TableReading) -> bool:
    """Whether a look-up comes back to the cell that the question names."""
    if reading.operation not in {TableOperation.LOOK_UP, TableOperation.LIST}:
        return False
    named = {condition.column: condition for condition in reading.selection.conditions if not condition.quantified}
    return reading.column in named and set(content(reading.values[0])) <= {
        token.stem for token in question.tokens[named[reading.column].first : named[reading.column].last + 1]
    }


def _superlative_used(question: TableQuestion, table: PageTable, reading: TableReading) -> bool:
    """Whether "the longest" is found by length, in its direction, or stands in a header or cell that is used."""
    word = question.query.superlative
    if not word or word in _EITHER_WAY:
        return True
    columns = {reading.column, reading.measure, *reading.selection.columns} - {-1}
    headers = frozenset(stem for column in columns for stem in content(table.header[column]))
    if (question.bits(headers) | reading.selection.bits) & question.bits(frozenset({stem(word)})):
        return True
    wanted = TableOperation.GREATEST if SUPERLATIVES[word] > 0 else TableOperation.SMALLEST
    dated = TableOperation.LAST if SUPERLATIVES[word] > 0 else TableOperation.FIRST
    return (
        reading.operation is wanted
        or (reading.operation is dated and reading.by_date)
        or (reading.operation is TableOperation.OFTENEST and word == "most")
    )


def _counts_asked(question: TableQuestion, table: PageTable, left: int) -> bool:
    """Whether rows are what is asked for: not where a column of numbers states the amount, as of inhabitants."""
    if OperationHint.COUNT not in question.hints or not question.asked:
        return False
    head = question.asked[-1]
    numbered = (at for at, kind in enumerate(column_kinds(table)) if kind == "numbers")
    return not left & question.bits(frozenset({head})) and not any(head in content(table.header[at]) for at in numbered)


def _measure_named(question: TableQuestion, table: PageTable, reading: TableReading) -> bool:
    """Whether the question says what is measured: the header of the column, or a superlative of that measure."""
    stems = frozenset(content(table.header[reading.measure]))
    return bool(stems & question.measure or question.bits(stems) & ~reading.selection.bits)
