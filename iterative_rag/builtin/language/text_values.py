"""Dates and numbers in text, found where they stand. What is computed with them, `computing` computes."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from iterative_rag.builtin.language.function_words import number_word
from iterative_rag.computing.date_arithmetic import MONTHS, Date, month_number
from iterative_rag.computing.operands import written
from iterative_rag.computing.unit_conversion import converted
from iterative_rag.computing.unit_conversion import unit as unit_of
from iterative_rag.text.patterns import lazy_pattern

__all__ = ["Date", "Number", "convert", "dates", "dimension", "numbers", "plain", "spelled"]

_MONTH = "|".join(MONTHS)
_SHORT = "|".join(month[:3] + r"\.?" for month in MONTHS)
_DATE = lazy_pattern(
    rf"\b(?:(?P<m1>{_MONTH}|{_SHORT})\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y1>\d{{4}})"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH}|{_SHORT}),?\s+(?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\s+(?:of\s+)?(?P<y3>\d{{4}})"
    r"|(?P<y5>\d{4})-(?P<m5>\d{2})-(?P<d5>\d{2})"
    r"|(?P<y4>1\d{3}|20\d{2}|[5-9]\d{2}(?=\s+(?:AD|CE)\b)))(?![\d])"
)


def dates(text: str) -> list[tuple[Date, int, int]]:
    """Dates with their places, left to right."""
    found = []
    for match in _DATE.finditer(text):
        year = next(int(match[name]) for name in ("y1", "y2", "y3", "y5", "y4") if match[name])
        month = next((match[name] for name in ("m1", "m2", "m3") if match[name]), None)
        day = next((int(match[name]) for name in ("d1", "d2", "d5") if match[name]), 0)
        number = month_number(month) if month else int(match["m5"] or 0)
        if number <= 12 and day <= 31:
            found.append((Date(year, number, day), match.start(), match.end()))
    return found


_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0, "hundred": 100.0}
_NUMBER = lazy_pattern(
    r"(?<![\w.,])(?P<digits>[-−]?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?)"
    r"(?:\s+(?P<scale>thousand|million|billion|trillion|hundred))?(?:[\s-](?P<unit>[^\W\d_]+[²³]?)|\s?(?P<sign>[%°]))?(?![\d])"
)

# Which words after a number are units, one line a dimension; `computing` knows what each is.
_UNITS: dict[str, str] = {}
for _dimension, _line in {
    "length": "m meter metre meters metres km kilometer kilometre kilometers kilometres ft foot feet mi mile miles cm "
    "centimeters yards",
    "time": "seconds second minutes minute min hours hour",
    "span": "days day weeks week months month years year",
    "mass": "kg kilograms kilogram tonnes tons g lb pounds",
    "heat": "k kelvin kelvins",
}.items():
    _UNITS.update(dict.fromkeys(_line.split(), _dimension))


@dataclass(frozen=True, slots=True)
class Number:
    """A number with the word after it, which may be a unit."""

    value: float
    unit: str = ""


def numbers(text: str) -> list[tuple[Number, int, int]]:
    """Numbers with their places; the end takes in a unit of measure or a scale ("1.4 million")."""
    found = []
    for match in _NUMBER.finditer(text):
        value = float(match["digits"].replace(",", "").replace(" ", "").replace("−", "-"))
        value *= _SCALE.get(match["scale"] or "", 1.0)
        unit = (match["unit"] or match["sign"] or "").lower()
        end = match.end("digits")
        if match["scale"]:
            end = match.end("scale")
        if unit in _UNITS or unit in {"%", "°"}:
            end = match.end()
        found.append((Number(value, unit), match.start(), end))
    for match in re.finditer(r"(?<![\w-])[A-Za-z]+(?:-[a-z]+)?(?![\w-])", text):
        value_of = number_word(match[0])
        if value_of is not None:
            after = re.match(r"\s+([a-z]+)", text[match.end() : match.end() + 30])
            found.append((Number(float(value_of), after[1] if after else ""), match.start(), match.end()))
    return sorted(found, key=lambda item: item[1])


def dimension(unit: str) -> str:
    """ "length" for "feet"; "" for a word that is no unit."""
    return _UNITS.get(unit.lower(), "")


def convert(number: Number, unit: str) -> float | None:
    """The value in `unit`; None where the two do not measure the same."""
    if not dimension(number.unit) or dimension(number.unit) != dimension(unit) or not math.isfinite(number.value):
        return None
    return float(converted(Fraction(number.value), unit_of(spelled(number.unit)), unit_of(spelled(unit))))


def spelled(unit: str) -> str:
    """The unit as `computing` writes it: "k" in a text is kelvin."""
    return "kelvin" if unit.lower() == "k" else unit.lower()


def plain(value: float) -> str:
    """ "1128" or "0.5": no trailing zeros."""
    return written(Fraction(value))
