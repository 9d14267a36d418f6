"""The dates and amounts of English text, as the rules and the ranking of the built-in reader count them.

`text.mentions` reads them; this module only decides which of them count. The weights of the ranking were fitted on
these decisions:
- a decade with its century ("1990s") counts as its first year;
- the end of a range that leaves its month or year unsaid (the 18 of "1914–18") is no date of its own;
- "once" is an amount, ranks ("42nd") are not.
"""

from __future__ import annotations

import re

from iterative_rag.text.dates import Date
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Mention, Moment, Period, Quantity, Span, Value

_ONCE = lazy_pattern(r"(?<![\w-])[Oo]nce(?![\w-])")
_SINCE = lazy_pattern(r"\bsince (?:\w+ )?(\d{4})\b|\b(\d{4}) ?[–-] ?present\b", re.IGNORECASE)


def dates(text: str) -> list[tuple[Date, int, int]]:
    """The dates of a text with their places, left to right; a bare year is one, a day without a year is not."""
    read = [(_date(mention, text), mention.start, mention.end) for mention in _single(text)]
    return [(date, start, end) for date, start, end in read if date and end - start > 2]


def years(text: str) -> list[int]:
    """The years that a text writes in digits, alone or in a date; a decade is none, nor is "Nineteen Eighty-Four"."""
    readings = [
        mention.readings[0] for mention in _single(text) if not mention.worded and mention.end - mention.start > 2
    ]
    return [reading.date.year for reading in readings if isinstance(reading, Moment) and isinstance(reading.date, Date)]


def tells_year(text: str, year: int) -> bool:
    """Whether a text says a year: by itself, in a range ("1913–1921"), in a decade, or since an earlier one."""
    if str(year) in text or any(int(match[1] or match[2]) <= year for match in _SINCE.finditer(text)):
        return True
    ranges = [_first_and_last(reading) for mention in mentions(text, "en") for reading in mention.readings]
    return any(first <= year <= last for first, last in ranges)


def _first_and_last(value: Value) -> tuple[int, int]:
    match value:
        case Span(low=Moment(date=Date() as first), high=Moment(date=Date() as last)):
            return first.year, last.year
        case Period(first=first_year, last=last_year):
            return first_year, last_year
    return 1, 0


def periods(text: str) -> list[tuple[int, int]]:
    """The places of the decades and centuries of a text."""
    eras = (mention for mention in _single(text) if isinstance(mention.readings[0], Period))
    return [(mention.start, mention.end) for mention in eras]


def amounts(text: str) -> list[tuple[Quantity, int, int]]:
    """The numbers of a text with their places, left to right; the end takes in a scale and a unit of measure.

    A bare year is a number, too.
    """
    read = [(_amount(mention), mention.start, mention.end) for mention in _single(text)]
    quantities = [(amount, start, end) for amount, start, end in read if amount]
    quantities += [(Quantity(1.0), at.start(), at.end()) for at in _ONCE.finditer(text)]
    return sorted(quantities, key=lambda entry: entry[1])


def _date(mention: Mention, text: str) -> Date | None:
    match mention.readings[0]:
        case Moment(date=Date() as date):
            return date
        case Period(first=first) if text[mention.start : mention.start + 4] == str(first):
            return Date(first)
    return None


def _amount(mention: Mention) -> Quantity | None:
    amount = next((reading for reading in mention.readings if isinstance(reading, Quantity)), None)
    return amount if amount and not amount.ordinal else None


def _single(text: str) -> tuple[Mention, ...]:
    return single(mentions(text, "en"))
