"""The values that an expression may have, their size limit, how they are written, and their units, which pint converts
exactly."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeAlias

from iterative_rag.errors import ComputeError
from iterative_rag.text import units
from iterative_rag.text.dates import Date
from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import registry

# An integer of 600 digits is more than any fact holds.
MOST_BITS = 2048
# Decimals shown of a number without a finite expansion.
PLACES = 6


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and the name by which the expression calls it."""

    name: str
    pint: Any

    @property
    def offset(self) -> bool:
        """Whether its zero is not that of its dimension (degrees Celsius): such values can be neither added nor
        divided."""
        return converted(Fraction(0), self, Unit("", registry().get_base_units(self.pint)[1])) != 0

    @property
    def calendar(self) -> str:
        """The unit as the calendar counts it: "year", "month", "week", "day" ..."""
        return str(self.pint).removeprefix("calendar_")


@dataclass(frozen=True, slots=True)
class Amount:
    """An exact number, of a unit or bare; `percent` says that it is written as a percentage ("25%" is 1/4)."""

    value: Fraction
    unit: Unit | None = None
    percent: bool = False

    def __str__(self) -> str:
        if self.percent:
            return f"{written(self.value * 100)}%"
        return f"{written(self.value)} {self.unit.name}" if self.unit else written(self.value)

    def measured_in(self, unit: Unit | None) -> Fraction:
        """Its number in another unit. Raises ComputeError where there is none, or where only one of the two has one."""
        if self.unit is None or unit is None:
            if self.unit is not unit:
                raise ComputeError(f"{self} and what has {'a' if unit else 'no'} unit cannot be added or compared")
            return self.value
        return converted(self.value, self.unit, unit)


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number of which only bounds are known, such as an age from two years."""

    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.low} {'or' if self.high - self.low == 1 else 'to'} {self.high}"


@dataclass(frozen=True, slots=True)
class Items:
    """A list; labelled values if `labels` is not empty."""

    values: tuple[Value, ...]
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.labels:
            return ", ".join(map(said, self.values))
        return ", ".join(f"{label}: {said(value)}" for label, value in zip(self.labels, self.values, strict=True))


Value: TypeAlias = Amount | Range | Date | Items | str | bool


def number(value: Fraction | int, unit: Unit | None = None, *, percent: bool = False) -> Amount:
    """An amount. Raises ComputeError if it is too large to compute with."""
    exact = Fraction(value)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > MOST_BITS:
        raise ComputeError("the numbers get too large")
    return Amount(exact, unit, percent)


def plain(value: Value) -> Fraction:
    """The number that a value is. Raises ComputeError for anything else, also for one with a unit."""
    if not isinstance(value, Amount) or value.unit:
        raise ComputeError(f"{said(value)!r} is not a number")
    return value.value


def said(value: Value) -> str:
    """A value as plain text: "87", "3.75", "86 or 87", "1 March 1912", "true"."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def written(value: Fraction) -> str:
    """The number in decimals: "87", "3.75"; rounded to six decimals, a tiny number to six digits."""
    places = PLACES
    while 0 < abs(value) < Fraction(1, 10 ** (places - PLACES + 1)) and places < 60:
        places += 1
    rounded = half_up(value * 10**places)
    digits = f"{abs(rounded):0{places + 1}d}"
    sign = "-" if rounded < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def half_up(value: Fraction) -> int:
    """Rounded to a whole number, halves away from zero."""
    whole = (abs(value) + Fraction(1, 2)).__floor__()
    return -whole if value < 0 else whole


# What the name of a unit may look like. Pint would evaluate a whole formula, so it is never given one.
_NAME = lazy_pattern(r"(?P<name>[A-Za-zµΩ°][A-Za-z°]{0,39})(?![A-Za-z°])(?P<power>[²³]|\s*\^\s*[23](?!\d))?")
_PER = lazy_pattern(r"\s*/\s*(?=[A-Za-zµ°])|\s*\bper\b\s*")
_LONGEST_NAME = 40


def unit_at(text: str, start: int) -> tuple[Unit, int]:
    """The unit that is written at `start` and the place after it: "ft", "km/h", "m^2", "square miles". Raises
    ComputeError for any other word."""
    unit, end = _single_at(text, start)
    if per := _PER.match(text, end):
        below, end = _single_at(text, per.end())
        unit = _combined(text[start:end], unit.pint / below.pint, unit, below)
    return unit, end


def _single_at(text: str, start: int) -> tuple[Unit, int]:
    words = text[start : start + _LONGEST_NAME]
    named = units.unit_at(folded_in_place(words), 0, "en")
    if named is not None and " " in words[: named.end]:  # "square miles", "degrees C"
        return Unit(words[: named.end], registry().parse_units(named.units[0])), start + named.end
    match = _NAME.match(text, start)
    if match is None:
        raise ComputeError(f"{text[start : start + 30] or 'the end'!r} is not a unit")
    unit = _unit(match["name"])
    if match["power"]:
        unit = _combined(match[0], unit.pint ** (2 if match["power"][-1] in "²2" else 3), unit)
    return unit, match.end()


def _combined(name: str, known: Any, *parts: Unit) -> Unit:
    if any(part.offset for part in parts):
        raise ComputeError("temperatures in °C or °F cannot be multiplied; convert them to kelvin")
    return Unit(" ".join(name.split()), known)


@lru_cache(maxsize=4096)
def _unit(name: str) -> Unit:
    from pint.errors import PintError

    table = units.unit_of(name)
    # Short symbols are left to pint, which tells mW from MW.
    for spelled in (table if len(name) > 2 or "°" in name else "", name, name.lower(), table):
        if spelled and units.dimension(spelled) != "money":
            with suppress(PintError, AttributeError, ValueError):  # what pint raises for a word depends on the word
                return Unit(name, registry().parse_units(spelled))
    raise ComputeError(f"{name!r} is not a unit or a function; leave out words, and put text in quotes")


def converted(value: Fraction, have: Unit, want: Unit) -> Fraction:
    """`value` of one unit in another. Raises ComputeError if they have different dimensions."""
    from pint.errors import PintError

    try:
        scale, shift = units.affine(have.pint, want.pint)
    except PintError:  # its own text cannot be written where a power is exact
        raise ComputeError(f"{have.name} and {want.name} do not measure the same thing") from None
    except (TypeError, ValueError) as error:  # decibels and their like: no fraction has a logarithm
        raise ComputeError(f"{have.name} cannot be converted exactly") from error
    return value * scale + shift


def difference_unit(unit: Unit) -> Unit:
    """The unit of a difference: 20 °C minus 15 °C is an interval of 5 °C, which is not a temperature."""
    return Unit(unit.name, registry().parse_units(f"delta_{unit.pint}")) if unit.offset else unit
