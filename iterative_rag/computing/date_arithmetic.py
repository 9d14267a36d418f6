"""Dates in expressions, and the time between them.

The calendar is the proleptic Gregorian one: Gregorian rules before 1582, too. Years are astronomical inside (44 BC is
-43), so that the year that the calendar does not have, 0, is never counted.
"""

from __future__ import annotations

import datetime
import re

from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import MONTH_PATTERN, MONTHS, Date, date_at, days_in
from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern

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


# --- days and months ------------------------------------------------------------------------------


def day_number(date: Date) -> int:
    """Days since 1 January of the year 1, which is day 1. Raises ComputeError for a day before Christ, or none."""
    if not date.day:
        raise ComputeError(f"the day of {date} is not given")
    if date.year < 1:
        raise ComputeError(f"days are counted after Christ only, not from {date}")
    return datetime.date(date.year, date.month, date.day).toordinal()


def full_months(start: Date, end: Date) -> int:
    """Completed months between two days; `start` is the earlier one."""
    return (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)


def days_later(date: Date, days: int) -> Date:
    try:
        moved = datetime.date.fromordinal(day_number(date) + days)
    except (ValueError, OverflowError) as error:
        raise ComputeError("the date is out of range") from error
    return Date(moved.year, moved.month, moved.day)


def months_later(date: Date, months: int) -> Date:
    """A date moved forwards or back; the 31st becomes the last day of a shorter month."""
    if months % 12 and not date.month:
        raise ComputeError(f"the month of {date} is not given")
    year, month = divmod(date.year * 12 + max(date.month - 1, 0) + months, 12)
    if not date.month:
        return in_range(Date(year))
    return in_range(Date(year, month + 1, min(date.day, days_in(year, month + 1))))


# --- the time between two dates ------------------------------------------------------------------


def between(first: Date, second: Date, unit: str) -> tuple[int, int]:
    """The least and the most completed "years", "months" or "days" between two dates, in either order.

    Two dates of different precision are compared at the precision of the coarser one: from 1912 to March 1914
    it is 2 years. A unit finer than that gives a range: from 1912 to 1914 it is 366 to 1095 days.
    """
    known = min(first.precision, second.precision)
    start, end = sorted((first, second))
    start, end = start.cut(known), end.cut(known)
    if (unit == "years" and known < 3) or (unit == "months" and known == 2):
        months = (end.year - start.year) * 12 + end.month - start.month
        return (months // (12 if unit == "years" else 1),) * 2
    most = _elapsed(start.earliest(), end.latest(), unit)
    return max(0, _elapsed(start.latest(), end.earliest(), unit)) if known < 3 else most, most


def _elapsed(start: Date, end: Date, unit: str) -> int:
    if unit == "days":
        return day_number(end) - day_number(start)
    return full_months(start, end) // (12 if unit == "years" else 1)


def age(born: Date, on: Date) -> tuple[int, int]:
    """The least and the most completed years from a birth to a date; they differ where the dates are too coarse."""
    if on.latest() < born.earliest():
        raise ComputeError(f"{on} lies before {born}; the birth comes first: age(born, day)")
    most = full_months(born.earliest(), on.latest()) // 12
    return max(0, full_months(born.latest(), on.earliest()) // 12), most


def duration(first: Date, second: Date) -> str:
    """ "37 years, 2 months, 3 days" between two days, in either order."""
    for date in (first, second):
        day_number(date)
    start, end = sorted((first, second))
    months = full_months(start, end)
    days = day_number(end) - day_number(months_later(start, months))
    parts = [(months // 12, "year"), (months % 12, "month"), (days, "day")]
    return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts if count) or "0 days"
