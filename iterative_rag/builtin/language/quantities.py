"""Dates and numbers in text: found, compared and subtracted."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.builtin.language.words import MONTHS, fold, number_word

_MONTH = "|".join(month.capitalize() for month in MONTHS)
_SHORT = "|".join(month[:3].capitalize() + r"\.?" for month in MONTHS)
_DATE = re.compile(
    rf"\b(?:(?P<m1>{_MONTH}|{_SHORT})\s+(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<y1>\d{{4}})"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<m2>{_MONTH}|{_SHORT}),?\s+(?P<y2>\d{{4}})"
    rf"|(?P<m3>{_MONTH})\s+(?:of\s+)?(?P<y3>\d{{4}})"
    r"|(?P<y5>\d{4})-(?P<m5>\d{2})-(?P<d5>\d{2})"
    r"|(?P<y4>1\d{3}|20\d{2}|[5-9]\d{2}(?=\s+(?:AD|CE)\b)))(?![\d])"
)


@dataclass(frozen=True, slots=True, order=True)
class Date:
    """A date; month and day are 0 where the text does not give them."""

    year: int
    month: int = 0
    day: int = 0

    def years_since(self, other: Date) -> int:
        """Full years from `other` to this, where both are known to the day; else the difference of the years."""
        years = self.year - other.year
        if self.month and other.month and (self.month, self.day) < (other.month, other.day):
            years -= 1
        return years


def dates(text: str) -> list[tuple[Date, int, int]]:
    """Dates with their places, left to right."""
    found = []
    for match in _DATE.finditer(text):
        year = next(int(match[name]) for name in ("y1", "y2", "y3", "y5", "y4") if match[name])
        month = next((match[name] for name in ("m1", "m2", "m3") if match[name]), None)
        day = next((int(match[name]) for name in ("d1", "d2", "d5") if match[name]), 0)
        number = _month(month) if month else int(match["m5"] or 0)
        if number <= 12 and day <= 31:
            found.append((Date(year, number, day), match.start(), match.end()))
    return found


def _month(name: str) -> int:
    start = fold(name)[:3]
    return next(place for place, month in enumerate(MONTHS, start=1) if month.startswith(start))


_SCALE = {"thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "dozen": 12.0, "hundred": 100.0}
_NUMBER = re.compile(
    r"(?<![\w.,])(?P<digits>[-−]?\d{1,3}(?:[, ]\d{3})+(?:\.\d+)?|[-−]?\d+(?:\.\d+)?)"
    r"(?:\s+(?P<scale>thousand|million|billion|trillion|hundred))?(?:[\s-](?P<unit>[^\W\d_]+[²³]?)|\s?(?P<sign>[%°]))?(?![\d])"
)

# One line a dimension: unit names, and what one of them is in the line's first unit.
_UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _line in {
    "length": "m:1 meter:1 metre:1 meters:1 metres:1 km:1000 kilometer:1000 kilometre:1000 kilometers:1000 "
    "kilometres:1000 ft:0.3048 foot:0.3048 feet:0.3048 mi:1609.344 mile:1609.344 miles:1609.344 cm:0.01 "
    "centimeters:0.01 yards:0.9144",
    "time": "seconds:1 second:1 minutes:60 minute:60 min:60 hours:3600 hour:3600",
    "span": "days:1 day:1 weeks:7 week:7 months:30.44 month:30.44 years:365.25 year:365.25",
    "mass": "kg:1 kilograms:1 kilogram:1 tonnes:1000 tons:1000 g:0.001 lb:0.4536 pounds:0.4536",
    "heat": "k:1 kelvin:1 kelvins:1",
}.items():
    for _pair in _line.split():
        _name, _factor = _pair.split(":")
        _UNITS[_name] = (_dimension, float(_factor))


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
    return _UNITS.get(unit.lower(), ("", 0.0))[0]


def convert(number: Number, unit: str) -> float | None:
    """The value in `unit`; None where the two do not measure the same."""
    have, want = _UNITS.get(number.unit), _UNITS.get(unit.lower())
    if have is None or want is None or have[0] != want[0]:
        return None
    return number.value * have[1] / want[1]


def plain(value: float) -> str:
    """ "1128" or "0.5": no trailing zeros."""
    return f"{value:.0f}" if abs(value - round(value)) < 1e-9 else f"{value:.4f}".rstrip("0").rstrip(".")
