"""What a cell says as a value: a number with its unit, a date, or only words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from iterative_rag.builtin.tables.page_tables import PageTable
from iterative_rag.text import units
from iterative_rag.text.dates import Date, YearDay
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Moment, Period, Quantity

_PLAIN = lazy_pattern(r"[-−+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-−+]?\d*\.?\d+")
# Longer runs of digits are no amounts, and Python refuses to convert them from some length on.
LONGEST_NUMBER = 40
# "1:31:33.736", "45:10": a time of a race or a film, in seconds.
_CLOCK = lazy_pattern(r"(?:(?P<hours>\d{1,2}):)?(?P<minutes>\d{1,3}):(?P<seconds>\d{2}(?:\.\d{1,9})?)(?![\d:]|\.\d)")
_YEAR = lazy_pattern(r"(?:1\d|20)\d{2}")
_NOTE = lazy_pattern(r"\[[^\]]{1,12}\]|[†‡*]")
_HEADER_UNIT = lazy_pattern(r"[(\[](?:in )?(?P<unit>[^()\[\]]{1,16})[)\]]")
# "W 21–14", "3–1 (a.e.t.)": two numbers, of which none is the cell's.
_SCORE = lazy_pattern(r"(?:\W|[WLDT]\b)*\d+\s?[–:-]\s?\d+(?![\d–:-])")
# A column is of a kind if this share of its cells is.
MOSTLY = 0.6
# A number behind more words than this belongs to prose: "the third section is on ...".
_FARTHEST = 12

Day = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class CellValue:
    """`number` is in `unit` (a name of `text.units`, "" for a count); `day` is (year, month, day), 0 where not given.

    A bare year is both a number and a day.
    """

    number: Fraction | None = None
    unit: str = ""
    day: Day | None = None


NOTHING = CellValue()


@lru_cache(maxsize=32768)
def cell_value(cell: str) -> CellValue:
    """The first number and the first date of a cell."""
    text = _NOTE.sub("", cell).strip()
    if not any(character.isdigit() for character in text):
        return NOTHING
    if len(text) <= LONGEST_NUMBER and _PLAIN.fullmatch(text):
        number = Fraction(text.replace(",", "").replace("−", "-"))
        return CellValue(number, "", (int(text), 0, 0) if _YEAR.fullmatch(text) else None)
    if (clock := _CLOCK.search(text)) and clock.start() < 3:
        seconds = Fraction(clock["seconds"]) + 60 * int(clock["minutes"]) + 3600 * int(clock["hours"] or 0)
        return CellValue(seconds, "second")
    amount: tuple[Fraction | None, str] = (None, "")
    day: Day | None = None
    year_day: Day | None = None
    for mention in single(mentions(text, "en", lenient=False)):
        if day is None:
            match mention.readings[0]:
                case Moment(date=Date() as date):
                    # "July 22–23, 1972": the year of a day that stands before it.
                    day = (
                        (date.year, *year_day[1:]) if year_day and not date.month else (date.year, date.month, date.day)
                    )
                case Moment(date=YearDay() as date):
                    year_day = year_day or (0, date.month, date.day)
                case Period(first=first):
                    day = (first, 0, 0)
        read = next((reading for reading in mention.readings if isinstance(reading, Quantity)), None)
        if amount[0] is None and read is not None and mention.start <= _FARTHEST:
            amount = Fraction(str(read.value)), read.unit
    return CellValue(*amount, day or year_day)


def header_unit(header: str) -> str:
    """The unit that a header names in brackets, as it is written: "m" for "Height (m)"; "" for none."""
    names = [match["unit"] for match in _HEADER_UNIT.finditer(header)]
    return next((unit for unit in names if units.unit_of(unit)), "")


@lru_cache(maxsize=1024)
def numbers(cells: tuple[str, ...]) -> tuple[Fraction | None, ...]:
    """The numbers of a column in the unit of its first cell that has one; None where a cell has none in it."""
    values = [cell_value(cell) for cell in cells]
    common = next((value.unit for value in values if value.number is not None and value.unit), "")
    return tuple(_in_unit(value, common) for value in values)


def _in_unit(value: CellValue, unit: str) -> Fraction | None:
    if value.number is None or value.unit in ("", unit):
        return value.number
    changed = units.convert(float(value.number), value.unit, unit) if unit else None
    return None if changed is None else Fraction(str(changed))


@lru_cache(maxsize=1024)
def days(cells: tuple[str, ...]) -> tuple[Day | None, ...]:
    return tuple(cell_value(cell).day for cell in cells)


def share(values: Sequence[object | None]) -> float:
    """The share of a column's cells that have a value."""
    return sum(value is not None for value in values) / max(1, len(values))


def has_words(cell: str) -> bool:
    """Whether a cell says something in words."""
    return re.search(r"[^\W\d_]{2}", cell) is not None


@lru_cache(maxsize=256)
def column_kinds(table: PageTable) -> tuple[str, ...]:
    """The kind of each column: "days", "scores", "numbers", "words" or "mixed"."""
    return tuple(_kind(table.column(column)) for column in range(len(table.header)))


def _kind(cells: tuple[str, ...]) -> str:
    if share(days(cells)) >= MOSTLY:
        return "days"
    if share([_SCORE.match(cell) for cell in cells]) >= MOSTLY:
        return "scores"
    worded = sum(map(has_words, cells)) / max(1, len(cells))
    if share(numbers(cells)) >= MOSTLY:
        return "numbers" if worded < MOSTLY else "mixed"
    return "words"
