"""Reads an expression and computes it on the way, by recursive descent: nothing of it is ever run.

From the loosest to the tightest: comparisons, "to" or "in" before a unit (12 ft to m), sums, products with "of" (15% of
240), signs, powers, "%" behind a number. Length, depth, the number of values and the size of each are bounded, so that
no expression takes long.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from iterative_rag.computing import unit_conversion
from iterative_rag.computing.amounts import WORD, AmountReader, as_percent
from iterative_rag.computing.arithmetic import add, divide, multiply, negated, power, related
from iterative_rag.computing.date_arithmetic import read_date
from iterative_rag.computing.functions import FUNCTIONS, ORDERS, called
from iterative_rag.computing.operands import Items, Measure, Value, said
from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import MONTH_PATTERN
from iterative_rag.text.markdown_rows import is_rule, row_cells
from iterative_rag.text.patterns import lazy_pattern

MOST_DEPTH, MOST_VALUES, MOST_ROWS = 32, 600, 1000
T = TypeVar("T")

_TEXT = lazy_pattern(r"'([^']*)'|\"([^\"]*)\"")
_LABEL = lazy_pattern(r"(?:'([^']{1,200})'|\"([^\"]{1,200})\"|([^:,{}\[\]'\"\n]{1,120}?))\s*:")
_BARE = lazy_pattern(r"[^\W\d_][\w .’&-]{0,80}?(?=\s*[,;\]])")
_FOOTNOTE = lazy_pattern(r"\s*\[\w{1,7}\]\s*$")
_OPENS_CELL = lazy_pattern(rf"[-−+$€£¥]?\s*\.?\d|(?:{MONTH_PATTERN})\b|AD\b", re.IGNORECASE)


def value_of(text: str) -> Value:
    """The value of an expression. Raises ComputeError."""
    return _Expression(text).value()


class _Expression(AmountReader):
    """Computes an expression from left to right."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._values = self._depth = 0

    def value(self) -> Value:
        """The value of the whole text."""
        value = self._comparison()
        self._ended()
        return value

    def _said(self, *words: str) -> bool:
        """Whether one of these words comes next, taken."""
        self._rest()
        match = WORD.match(self._text, self._at)
        if match is None or match[0].lower() not in words:
            return False
        self._at = match.end()
        return True

    @contextmanager
    def _nested(self, *, listing: bool) -> Iterator[None]:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise ComputeError("the expression is nested too deeply")
        before, self._listing = self._listing, listing
        yield
        self._depth, self._listing = self._depth - 1, before

    # --- operators -------------------------------------------------------------------------------

    def _comparison(self) -> Value:
        first, held = self._conversion(), True
        compared = False
        while sign := self._taken("<=", ">=", "==", "!=", "<", ">", "="):
            second = self._conversion()
            held, compared, first = held and related(first, sign, second), True, second
        return held if compared else first

    def _conversion(self) -> Value:
        value = self._sum()
        while self._said("to", "in"):
            value = _converted(value, self._unit())
        return value

    def _sum(self) -> Value:
        result = self._product()
        while sign := self._taken("+", "-"):
            result = add(result, self._product(), 1 if sign == "+" else -1)
        return result

    def _product(self) -> Value:
        result = self._signed()
        while (sign := self._taken("*", "/")) or self._said("of"):
            result = (divide if sign == "/" else multiply)(result, self._signed())
        return result

    def _signed(self) -> Value:
        sign = self._taken("+", "-")
        if not sign:
            return self._power()
        with self._nested(listing=self._listing):
            value = self._signed()
        return negated(value) if sign == "-" else value

    def _power(self) -> Value:
        base = self._operand()
        while self._taken("%"):
            if re.match(r"[\d(.]", self._rest()):
                raise ComputeError("write 15% of 240 for a percentage")
            base = as_percent(base)
        if not self._taken("^", "**"):
            return base
        with self._nested(listing=self._listing):
            return power(base, self._signed())

    # --- operands --------------------------------------------------------------------------------

    def _operand(self) -> Value:
        self._values += 1
        if self._values > MOST_VALUES:
            raise ComputeError("the expression has too many values")
        match self._rest()[:1]:
            case "":
                raise ComputeError("the expression ends too early")
            case "(":
                return self._bracketed()
            case "[":
                return Items(tuple(self._entries("]", self._entry)))
            case "{":
                pairs = self._entries("}", lambda: (self._label(), self._comparison()))
                return Items(tuple(value for _, value in pairs), tuple(label for label, _ in pairs))
        if (amount := self._amount()) is not None:
            return amount
        quoted = self._quoted()
        return self._named() if quoted is None else quoted

    def _bracketed(self) -> Value:
        self._at += 1
        with self._nested(listing=False):
            value = self._comparison()
            if not self._taken(")"):
                raise self._unread("stands where ')' is expected")
        return value

    def _entries(self, closing: str, entry: Callable[[], T]) -> list[T]:
        """The entries of an open bracket, between commas."""
        self._at += 1
        entries: list[T] = []
        with self._nested(listing=True):
            while not self._taken(closing):
                if entries and not self._taken(",", ";"):
                    raise self._unread(f"stands where {closing!r} is expected")
                if not (entries and self._taken(closing)):
                    entries.append(entry())
                    continue
                break
        return entries

    def _entry(self) -> Value:
        self._rest()
        bare = self._match(_BARE) if read_date(self._text, self._at) is None else None
        return bare[0].strip() if bare else self._comparison()

    def _label(self) -> str:
        match = self._match(_LABEL)
        if match is None:
            raise ComputeError("write labelled values as {Anna: 12, 'St. Mary': 9}")
        return next(group for group in match.groups() if group is not None).strip()

    def _quoted(self) -> str | None:
        quoted = self._match(_TEXT)
        return next((group for group in quoted.groups() if group is not None), "") if quoted else None

    def _named(self) -> Value:
        match = self._match(WORD)
        if match is None:
            raise self._unread()
        name = match[0].lower()
        if self._rest()[:1] != "(":
            if name in ORDERS:
                return name
            raise ComputeError(f"{match[0][:40]!r} is not known here; put text in quotes")
        if name == "convert":
            value, unit, *others = [*self._entries(")", self._argument), None, None]
            if not isinstance(unit, Unit) or isinstance(value, Unit) or value is None or len(others) > 2:
                raise ComputeError("write a conversion as convert(12 ft, m)")
            return _converted(value, unit)
        if name == "table":
            return _column(*map(said, self._entries(")", self._comparison)))
        if name not in FUNCTIONS:
            known = ", ".join(FUNCTIONS)
            raise ComputeError(f"there is no function {name[:40]!r}; there are {known}, convert, table")
        return called(name, self._entries(")", self._comparison))

    def _argument(self) -> Value | Unit:
        """An argument of a conversion: what comes after a comma is a unit."""
        if self._text[: self._at].rstrip()[-1:] not in ",;":
            return self._comparison()
        quoted = self._quoted()
        return self._unit() if quoted is None else AmountReader(quoted).single_unit()


def _converted(value: Value, wanted: Unit) -> Value:
    if not isinstance(value, Measure):
        raise ComputeError(f"{said(value)} has no unit; write convert(12 ft, m)")
    return Measure(unit_conversion.converted(value.value, value.unit, wanted), wanted)


# --- tables --------------------------------------------------------------------------------------------


def _column(table: str = "", name: str = "", labels: str = "", *others: str) -> Items:
    """The cells of the column `name` of a Markdown table, labelled by those of `labels` ("" for the first column)."""
    if not name or others:
        raise ComputeError("write a column as table('| City | People |\\n| Orm | 900 |', 'People')")
    # In JSON, models often escape the line breaks twice.
    lines = table.replace("\\n", "\n").splitlines()
    rows = [[cell.text for cell in row_cells(line)] for line in lines if line.strip(" |") and not is_rule(line)]
    if not 2 <= len(rows) <= MOST_ROWS:
        raise ComputeError(f"a table needs a header row and 1 to {MOST_ROWS} more, each on its own line: | a | b |")
    head = [cell.casefold() for cell in rows[0]]
    places = []
    for wanted in (name, labels or rows[0][0]):
        if wanted.strip().casefold() not in head:
            raise ComputeError(f"there is no column {wanted!r}; there are {', '.join(rows[0])[:200]}")
        places.append(head.index(wanted.strip().casefold()))
    for row in rows[1:]:
        if len(row) <= max(places):
            raise ComputeError(f"the row | {' | '.join(row)[:80]} | has fewer cells than the header")
    return Items(tuple(_cell(row[places[0]]) for row in rows[1:]), tuple(row[places[1]] for row in rows[1:]))


def _cell(text: str) -> Value:
    """The value of a table cell: a number, measure or date if it is one, else its text."""
    bare = _FOOTNOTE.sub("", text)
    if not _OPENS_CELL.match(bare):
        return text
    try:
        return AmountReader(bare).literal()
    except ComputeError:
        return text
