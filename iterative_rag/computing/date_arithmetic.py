"""Dates in expressions, and the time between them.

The calendar is the proleptic Gregorian one: Gregorian rules before 1582, too. A date that a source gives in the Julian
calendar can be carried over with `from_julian`. Years are astronomical inside (44 BC is -43), so that the year that the
calendar does not have, 0, is never counted.
"""

from __future__ import annotations

import datetime
import re

from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import MONTH_PATTERN, MONTHS, WEEKDAYS, Date, date_at, days_in
from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern

# The last year, before or after Christ, with which anything is computed.
LAST_YEAR = 9999


def dated(year: int, month: int = 0, day: int = 0) -> Date:
    """A date of the calendar; `year` is astronomical. Raises ComputeError for a day that does not exist."""
    if abs(year) > LAST_YEAR:
        raise ComputeError(f"the year {year} is out of range")
    if month and not 1 <= month <= 12:
        raise ComputeError(f"there is no month {month}")
    if day and not (month and 1 <= day <= days_in(year, month)):
        raise ComputeError(f"there is no {day} {MONTHS[month - 1] if month else ''} in that year")
    return Date(year, month, day)


# --- reading -------------------------------------------------------------------------------------

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
    return dated(written.date.year, written.date.month, written.date.day), position + written.end


# --- counting days -------------------------------------------------------------------------------


def day_number(date: Date) -> int:
    """Days since 1 January of the year 1 (which is day 1). Raises ComputeError for a day before Christ."""
    if date.year < 1:
        raise ComputeError(f"days are counted after Christ only, not from {date}")
    return datetime.date(date.year, date.month, date.day).toordinal()


def from_day_number(number: int) -> Date:
    """Raises ComputeError beyond the years 1 to 9999."""
    try:
        day = datetime.date.fromordinal(number)
    except (ValueError, OverflowError) as error:
        raise ComputeError("the date is out of range") from error
    return Date(day.year, day.month, day.day)


def weekday(date: Date) -> str:
    return WEEKDAYS[(day_number(_to_the_day(date)) - 1) % 7]


def _to_the_day(date: Date) -> Date:
    if date.precision < 3:
        raise ComputeError(f"the day of {date} is not given")
    return date


# --- the time between two dates ------------------------------------------------------------------


def full_months(start: Date, end: Date) -> int:
    """Completed months between two days; `start` is the earlier one."""
    return (end.year - start.year) * 12 + end.month - start.month - (end.day < start.day)


def between(start: Date, end: Date, unit: str) -> tuple[int, int]:
    """The least and the most completed "years", "months", "weeks" or "days" between two dates, in either order.

    Two dates of different precision are compared at the precision of the coarser one: from 1912 to March 1914
    it is 2 years. A unit finer than that gives a range: from 1912 to 1914 it is 366 to 1095 days.
    """
    if end < start:
        start, end = end, start
    known = min(start.precision, end.precision)
    first, last = start.cut(known), end.cut(known)
    if unit == "years" and known < 3:
        return (last.year - first.year - (last.month < first.month),) * 2
    if unit == "months" and known == 2:
        return (full_months(first, last),) * 2
    most = _elapsed(first.earliest(), last.latest(), unit)
    return max(0, _elapsed(first.latest(), last.earliest(), unit)) if known < 3 else most, most


def age(born: Date, on: Date) -> tuple[int, int]:
    """The least and the most completed years from a birth to a date; they differ where the dates are too coarse."""
    most = full_months(born.earliest(), on.latest()) // 12
    if most < 0 or on.latest() < born.earliest():
        raise ComputeError(f"{on} lies before {born}; the birth comes first: age(born, day)")
    return max(0, full_months(born.latest(), on.earliest()) // 12), most


def duration(start: Date, end: Date) -> str:
    """ "37 years, 2 months, 3 days" between two days, in either order."""
    start, end = sorted((_to_the_day(start), _to_the_day(end)))
    months = full_months(start, end)
    days = day_number(end) - day_number(later(start, months=months))
    parts = [(months // 12, "year"), (months % 12, "month"), (days, "day")]
    said = [f"{count} {name}{'' if count == 1 else 's'}" for count, name in parts if count]
    return ", ".join(said) or "0 days"


def _elapsed(start: Date, end: Date, unit: str) -> int:
    if unit in {"years", "months"}:
        return full_months(start, end) // (12 if unit == "years" else 1)
    return (day_number(end) - day_number(start)) // (7 if unit == "weeks" else 1)


def later(date: Date, *, months: int = 0, days: int = 0) -> Date:
    """A date moved forwards or back; the 31st becomes the last day of a shorter month."""
    if (days or months % 12) and date.precision < (3 if days else 2):
        raise ComputeError(f"the {'day' if days else 'month'} of {date} is not given")
    if days:
        if abs(days) > LAST_YEAR * 366:
            raise ComputeError("the number of days is out of range")
        date = from_day_number(day_number(date) + days)
    if not date.month:
        return dated(date.year + months // 12)
    total = date.year * 12 + date.month - 1 + months
    year, month = total // 12, total % 12 + 1
    return dated(year, month, min(date.day, days_in(year, month)))
