"""Dates that may be incomplete, and how people write them.

Years are astronomical internally, so that they can be subtracted: 1 BC is 0 and 44 BC is -43.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from functools import cache

from iterative_rag.text.languages import language_of
from iterative_rag.text.patterns import DIGIT

MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)
# English names of months, full and short, for a regular expression.
MONTH_PATTERN = "|".join([*MONTHS, "Sept", *(month[:3] for month in MONTHS)])
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True, slots=True, order=True)
class Date:
    """A date; month and day are 0 if they are unknown. `year` is astronomical: 0 is 1 BC."""

    year: int
    month: int = 0
    day: int = 0

    def __str__(self) -> str:
        year = str(self.year) if self.year > 0 else f"{1 - self.year} BC"
        return f"{YearDay(self.month, self.day)} {year}" if self.month else year

    @property
    def precision(self) -> int:
        """1 for a year, 2 for a month, 3 for a day."""
        return 1 + bool(self.month) + bool(self.day)

    def earliest(self) -> Date:
        return Date(self.year, self.month or 1, self.day or 1)

    def latest(self) -> Date:
        month = self.month or 12
        return Date(self.year, month, self.day or days_in(self.year, month))

    def cut(self, precision: int) -> Date:
        """The same date at a lower precision: the year (1) or the month (2)."""
        return Date(self.year, self.month if precision > 1 else 0, self.day if precision > 2 else 0)


@dataclass(frozen=True, slots=True)
class YearDay:
    """A day or month without a year: "5 June"."""

    month: int
    day: int = 0

    def __str__(self) -> str:
        return f"{self.day} {MONTHS[self.month - 1]}" if self.day else MONTHS[self.month - 1]


def days_in(year: int, month: int) -> int:
    return calendar.monthrange(year, month)[1]


@dataclass(frozen=True, slots=True)
class DateText:
    """A date in `text[start:end]`. `ordered` is false for 5/6/1987, which may be May or June; `exists` is false for a
    day that the calendar does not have."""

    date: Date | YearDay
    start: int
    end: int
    ordered: bool = True
    exists: bool = True


def dates(plain: str, code: str) -> list[DateText]:
    """The dates of a text that was folded in place, left to right. A bare year is a number, and a day that the calendar
    does not have is left out."""
    if not DIGIT.search(plain):  # as in most names; the pattern of all languages takes 5 ms to compile
        return []
    candidates = (_read(match, code) for match in _pattern(code).finditer(plain))
    return [date for date in candidates if date and date.exists]


def date_at(plain: str, start: int, code: str) -> DateText | None:
    """The date that begins at `start`; the calendar may not have it (`exists`)."""
    match = _pattern(code).match(plain, start)
    return _read(match, code) if match else None


@cache
def _pattern(code: str) -> re.Pattern[str]:
    known = language_of(code)
    month = "|".join(sorted(map(re.escape, known.months), key=len, reverse=True))
    before = "|".join(sorted(known.before_christ, key=len, reverse=True))
    after = "|".join(sorted(known.after_christ, key=len, reverse=True))

    def era(name: str) -> str:
        return rf"\s*(?:(?P<b{name}>{before})|(?:{after}))"

    def year(name: str) -> str:
        # Two digits are a year only with an era; "2012:" is a year, "1,912" and "1912.5" are numbers.
        return (
            rf"(?:(?P<y{name}>\d{{3,4}})(?![\d])(?![.,]\d)(?:{era(name)})?"
            rf"|(?P<z{name}>\d{{1,2}}){era(f'{name}s')}"
            rf"|(?:a\.?\s?d\.?|c\.?\s?e\.?)\s+(?P<x{name}>\d{{1,4}})(?!\d))"
        )

    of = r"(?:\s+(?:day\s+)?(?:of|de|del|di|do|van|d'))?"
    endings = r"(?:st|nd|rd|th|\.?[ºª°]|\.|er|ste|e)?"

    def day(name: str) -> str:
        return rf"(?P<d{name}>\d{{1,2}}){endings}(?![\w:]|[.,]\d)"

    return re.compile(
        r"(?<!\w)(?<!\d[.,:/])(?:"
        rf"{day('1')}{of}\s*(?:\s|-)(?P<m1>{month})(?!\w)\.?(?:(?:,|{of}|\s+(?:in|im))\s*[ -]{year('1')})?"
        rf"|(?P<m2>{month})\.?(?:,?{of}\s+(?:in\s+)?{year('3')}|\s+(?:the\s+)?{day('2')}(?:,?\s+(?:of\s+)?{year('2')})?)"
        r"|(?P<y4>\d{4})-(?P<m4>\d{2})-(?P<d4>\d{2})(?![\d-])"
        r"|(?P<d5>\d{1,2})(?P<mark>[./])\s?(?P<m5>\d{1,2})(?P=mark)\s?(?P<y5>\d{4})(?!\d|[./]\d)"
        rf"|(?P<y6>\d{{1,4}})(?![\d]){era('6')}"
        r"|(?:a\.?\s?d\.?)\s+(?P<y7>\d{1,4})(?!\d|[.,]\d))"
    )


def _read(match: re.Match[str], code: str) -> DateText | None:
    said = {name: part for name, part in match.groupdict().items() if part and name != "mark"}
    years = [part for name, part in said.items() if name[0] in "yzx"]
    year = int(years[0]) if years else None
    if year == 0:
        return None
    if year is not None and any(name[0] == "b" for name in said):
        year = 1 - year
    named = next((part for name, part in said.items() if name[0] == "m"), "")
    month = language_of(code).months.get(named, 0) or (int(named) if named.isdigit() else 0)
    day = next((int(part) for name, part in said.items() if name[0] == "d"), 0)
    ordered = match["mark"] != "/" or day > 12 or month > 12 or day == month
    if month > 12 >= day > 0:
        month, day = day, month
    if not 0 <= month <= 12 or (named and not month) or day > 31 or (day and not month):
        return None
    date = YearDay(month, day) if year is None else Date(year, month, day)
    exists = not day or day <= days_in(year or 0, month)
    return DateText(date, match.start(), match.end(), ordered, exists)
