"""The operators on numbers, measures and dates, and the time between two dates.

The calendar is the proleptic Gregorian one: Gregorian rules before 1582, too. Years are astronomical inside (44 BC is
-43), so that the year that the calendar does not have, 0, is never counted.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key
from operator import eq, ge, gt, le, lt, ne

from iterative_rag.computing.operands import (
    MOST_BITS,
    Amount,
    Range,
    Unit,
    Value,
    difference_unit,
    number,
    plain,
    said,
    unit_at,
)
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import MONTH_PATTERN, MONTHS, Date, date_at, days_in
from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern

_MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1200}
_DAYS = {"day": 1, "week": 7}
# The last year, before or after Christ, with which anything is computed.
LAST_YEAR = 9999

# How a date begins. Most numbers do not, and this test is much cheaper than reading a date.
_OPENS = lazy_pattern(
    rf"\d{{4}}-|\d{{1,4}}[A-Za-z]{{0,2}}\s*(?:of\s+)?[A-Za-z]|(?:{MONTH_PATTERN}|A\.?D)\b", re.IGNORECASE
)
# In an expression, 12/25/1987 is a division.
_DIVIDES = lazy_pattern(r"\d{1,2}[./]")
_YEAR_0 = lazy_pattern(r"0+\s*(?:B\.?\s?C|A\.?\s?D|C\.?\s?E)(?![A-Za-z])", re.IGNORECASE)
_LONGEST = 60


def add(first: Value, second: Value, sign: int = 1) -> Value:
    """`first + sign * second` for amounts of one dimension, a date or year and a duration, or two dates."""
    match first, second:
        case Amount(unit=None), Amount(unit=Unit() as unit) if (
            unit.calendar in _MONTHS and 0 < first.value <= LAST_YEAR
        ):
            return number(_moved(as_date(first), second, sign).year)
        case Amount(), Amount():
            if first.percent != second.percent and first.value and second.value:
                raise ComputeError("a percentage of what? write 240 * 1.15 or 240 + 15% of 240")
            if first.unit and first.unit.offset and sign > 0:
                raise ComputeError("temperatures in °C or °F cannot be added")
            result = first.value + sign * second.measured_in(first.unit)
            return number(result, first.unit and difference_unit(first.unit), percent=first.percent)
        case Date(), Amount(unit=Unit()):
            return _moved(first, second, sign)
        case Amount(unit=Unit()), Date() if sign > 0:
            return _moved(second, first, 1)
        case (Date() | Amount(unit=None), Date() | Amount(unit=None)) if sign < 0:
            return _apart(as_date(first), as_date(second))
    raise ComputeError(f"{said(first)} and {said(second)} cannot be added or subtracted")


def _moved(date: Date, time: Amount, sign: int) -> Date:
    name = time.unit.calendar if time.unit else ""
    whole = time.value * (_MONTHS.get(name) or _DAYS.get(name) or 0) * sign
    if (name not in _MONTHS and name not in _DAYS) or whole.denominator != 1:
        raise ComputeError(f"{said(time)} cannot be added to a date; use whole years, months, weeks or days")
    if abs(whole) > LAST_YEAR * 366:
        raise ComputeError("the duration is out of range")
    if name in _MONTHS:
        return months_later(date, int(whole))
    try:
        moved = datetime.date.fromordinal(day_number(date) + int(whole))
    except (ValueError, OverflowError) as error:
        raise ComputeError("the date is out of range") from error
    return Date(moved.year, moved.month, moved.day)


def _apart(first: Date, second: Date) -> Value:
    if first.precision == second.precision == 1:
        return number(first.year - second.year)
    if first.precision == second.precision == 3:
        days = day_number(first) - day_number(second)
        return number(days, unit_at("days", 0)[0])
    raise ComputeError(
        "say which difference between the dates you want: years(a, b), months(a, b), days(a, b) or age(born, day)"
    )


def multiply(first: Value, second: Value) -> Value:
    match first, second:
        case Amount(), Amount(unit=None) if not _is_offset(first):
            return number(first.value * second.value, first.unit)
        case Amount(unit=None), Amount() if not _is_offset(second):
            return number(first.value * second.value, second.unit)
    raise ComputeError(f"{said(first)} and {said(second)} cannot be multiplied")


def divide(first: Value, second: Value) -> Value:
    """An amount by a number, or by one of its dimension."""
    if isinstance(second, Amount) and not second.value:
        raise ComputeError("division by zero")
    match first, second:
        case Amount(), Amount(unit=None) if not _is_offset(first):
            return number(first.value / second.value, first.unit)
        case Amount(unit=Unit()), Amount(unit=Unit()) if not _is_offset(first):
            return number(first.value / second.measured_in(first.unit))
    raise ComputeError(f"{said(first)} cannot be divided by {said(second)}")


def _is_offset(amount: Amount) -> bool:
    return amount.unit is not None and amount.unit.offset


def power(base: Value, exponent: Value) -> Value:
    """Whole-number powers of numbers only."""
    exact, times = plain(base), plain(exponent)
    if times.denominator != 1:
        raise ComputeError("a power is that of a number, by a whole number")
    bits = max(exact.numerator.bit_length(), exact.denominator.bit_length())
    if bits * abs(times) > MOST_BITS:
        raise ComputeError("the power is too large")
    if not exact and times < 0:
        raise ComputeError("division by zero")
    return number(exact ** int(times))


def negated(value: Value) -> Value:
    if not isinstance(value, Amount):
        raise ComputeError(f"{said(value)} cannot be negated")
    return replace(value, value=-value.value)


def as_date(value: Value) -> Date:
    """The date of a date, a year, or a text that is either. Raises ComputeError for anything else."""
    if isinstance(value, Date):
        return value
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdigit() and len(text) <= 4:
            return as_date(number(int(text)))
        if (reading := read_date(text)) and reading[1] == len(text):
            return reading[0]
    if not isinstance(value, Amount) or value.unit or value.value.denominator != 1:
        raise ComputeError(f"{said(value)!r} is not a date; write 1 March 1912, March 1912, 1912 or 44 BC")
    if not 1 <= value.value <= LAST_YEAR:
        raise ComputeError(f"{said(value)} is not a year; write 44 BC for a year before Christ")
    return Date(int(value.value))


Relation = Callable[[int, int], bool]
RELATIONS: Mapping[str, Relation] = {"<": lt, "<=": le, "=": eq, "==": eq, "!=": ne, ">=": ge, ">": gt}


def compare(first: Value, second: Value) -> int:
    """-1, 0 or 1. Raises ComputeError where two values have no order or are not known well enough to order them."""
    match first, second:
        case Amount(), Amount():
            other = second.measured_in(first.unit)
            return (first.value > other) - (first.value < other)
        case (Date() | Amount(unit=None), Date() | Amount(unit=None)):
            start, end = as_date(first), as_date(second)
            if start != end and start.earliest() <= end.latest() and end.earliest() <= start.latest():
                raise ComputeError(f"it is not known which comes first, {start} or {end}")
            return (start > end) - (start < end)
        case str(), str():
            return (first.casefold() > second.casefold()) - (first.casefold() < second.casefold())
    raise ComputeError(f"{said(first)} and {said(second)} cannot be compared")


def ordered(values: Sequence[Value], *, descending: bool = False) -> list[int]:
    """The indices of the values in ascending (or descending) order; the sort is stable."""
    key = cmp_to_key(compare)
    return sorted(range(len(values)), key=lambda index: key(values[index]), reverse=descending)


def read_date(text: str, position: int = 0) -> tuple[Date, int] | None:
    """The date that is written at `position` and the place after it: "1 March 1912", "March 1, 1912", "1912-03-01",
    "March 1912", "44 BC". A bare year is a number, not a date. Raises ComputeError for a day that does not exist."""
    if _YEAR_0.match(text, position):
        raise ComputeError("there is no year 0: 1 BC is followed by AD 1")
    if not _OPENS.match(text, position) or _DIVIDES.match(text, position):
        return None
    written = date_at(folded_in_place(text[position : position + _LONGEST]), 0, "en")
    if written is None or not isinstance(written.date, Date):
        return None
    if not written.exists:
        raise ComputeError(f"there is no {written.date.day} {MONTHS[written.date.month - 1]} in that year")
    return in_range(written.date), position + written.end


def in_range(date: Date) -> Date:
    if abs(date.year) > LAST_YEAR:
        raise ComputeError(f"the year {date.year} is out of range")
    return date


def day_number(date: Date) -> int:
    """Days since 1 January of the year 1, which is day 1. Raises ComputeError for a day before Christ, or none."""
    if not date.day:
        raise ComputeError(f"the day of {date} is not given")
    if date.year < 1:
        raise ComputeError(f"days are counted after Christ only, not from {date}")
    return datetime.date(date.year, date.month, date.day).toordinal()


def months_later(date: Date, months: int) -> Date:
    """A date moved forwards or back; the 31st becomes the last day of a shorter month."""
    if months % 12 and not date.month:
        raise ComputeError(f"the month of {date} is not given")
    year, month = divmod(date.year * 12 + max(date.month - 1, 0) + months, 12)
    if not date.month:
        return in_range(Date(year))
    return in_range(Date(year, month + 1, min(date.day, days_in(year, month + 1))))


def between(first: Value, second: Value, *, unit: str) -> Value:
    """The completed "years", "months" or "days" between two dates, in either order.

    Two dates of different precision are compared at the precision of the coarser one: from 1912 to March 1914
    it is 2 years. A unit finer than that gives a range: from 1912 to 1914 it is 366 to 1095 days.
    """
    start, end = sorted((as_date(first), as_date(second)))
    known = min(start.precision, end.precision)
    start, end = start.cut(known), end.cut(known)
    if (unit == "years" and known < 3) or (unit == "months" and known == 2):
        return number(_elapsed(start, end, unit))
    return _bounds(start, end, unit)


def _bounds(start: Date, end: Date, unit: str) -> Value:
    least, most = _elapsed(start.latest(), end.earliest(), unit), _elapsed(start.earliest(), end.latest(), unit)
    return number(most) if max(0, least) == most else Range(max(0, least), most)


def _elapsed(start: Date, end: Date, unit: str) -> int:
    """How many are completed; of dates that are cut alike, at their precision."""
    if unit == "days":
        return day_number(end) - day_number(start)
    months = (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)
    return months // 12 if unit == "years" else months


def age(born: Value, on: Value) -> Value:
    """The completed years from a birth to a date; a range where the dates are too coarse."""
    birth, day = as_date(born), as_date(on)
    if day.latest() < birth.earliest():
        raise ComputeError(f"{day} lies before {birth}; the birth comes first: age(born, day)")
    return _bounds(birth, day, "years")


def duration(first: Value, second: Value) -> str:
    """ "37 years, 2 months, 3 days" between two days, in either order."""
    start, end = sorted((as_date(first), as_date(second)), key=day_number)
    months = _elapsed(start, end, "months")
    days = day_number(end) - day_number(months_later(start, months))
    parts = [(months // 12, "year"), (months % 12, "month"), (days, "day")]
    return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts if count) or "0 days"
