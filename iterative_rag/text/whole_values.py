"""Values as their text writes them: with the unit behind the number, and never cut inside a word."""

from __future__ import annotations

import re

from iterative_rag.text import units
from iterative_rag.text.languages import language
from iterative_rag.text.mentions import mentions, single
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.values import Quantity

_NUMBER = lazy_pattern(r"[\d.,']*\d(?: (?:thousand|million|billion|trillion))?")
# A row of an infobox: "| Height (m) | 310 |"
_LABELLED = lazy_pattern(r"^\|[^|]*\((?P<unit>[^()|]{1,12})\)\s*\|\s*(?P<cell>[^|]*?)\s*\|$")
# From Thai on, the scripts of Asia, whose words have no spaces between them.
_WITHOUT_SPACES = "\u0e00"


def with_unit(value: str, *quotes: str) -> str:
    """A bare number with the unit that the first of the quotes which has one writes with it: "661 ft" for "661";
    anything else as it is."""
    value = value.strip()
    if not _NUMBER.fullmatch(value):
        return value
    return next((written for quote in quotes if (written := _with_unit_of(quote, value)) != value), value)


def _with_unit_of(quote: str, value: str) -> str:
    if (row := _LABELLED.match(quote.strip())) and row["cell"] == value and units.unit_of(row["unit"]):
        return f"{value} {row['unit']}"
    for mention in single(mentions(quote, language(quote) or "en")):
        amount = next((reading for reading in mention.readings if isinstance(reading, Quantity)), None)
        written = quote[mention.start : mention.end]
        if amount and amount.unit and _holds(written, value):
            return written
    return value


def whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The span of `text`, widened to the borders of the words that it begins and ends in."""
    while 0 < start < end and _joins(text[start - 1], text[start]):
        start -= 1
    while start < end < len(text) and _joins(text[end - 1], text[end]):
        end += 1
    return start, end


def _holds(written: str, number: str) -> bool:
    """Whether an amount is this number with a unit, before or behind it: "661 ft", "$5 million"; not "98-minute"."""
    return re.fullmatch(rf"[^\w\s]?\s?{re.escape(number)}(?:\s?[^\s\d-].*)?", written) is not None


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and left < _WITHOUT_SPACES > right
