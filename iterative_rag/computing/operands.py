"""What an expression may come to, how large it may be, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from iterative_rag.computing.date_arithmetic import Date
from iterative_rag.computing.errors import ComputeError
from iterative_rag.computing.unit_conversion import Unit

# An integer of 600 digits is more than any fact holds.
MOST_BITS = 2048
# Decimals that are shown of a number that has no end.
PLACES = 6


@dataclass(frozen=True, slots=True)
class Scalar:
    """An exact number; `percent` only says that it is written as one ("25%" is 1/4)."""

    value: Fraction
    percent: bool = False

    def __str__(self) -> str:
        return f"{written(self.value * 100)}%" if self.percent else written(self.value)


@dataclass(frozen=True, slots=True)
class Measure:
    value: Fraction
    unit: Unit

    def __str__(self) -> str:
        return f"{written(self.value)} {self.unit.name}"


@dataclass(frozen=True, slots=True)
class Range:
    """A whole number of which only bounds are known: an age by two years alone."""

    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        joint = "or" if self.high - self.low == 1 else "to"
        return f"{written(self.low)} {joint} {written(self.high)}"


@dataclass(frozen=True, slots=True)
class Items:
    """A list, or labelled values where `labels` are given."""

    values: tuple[Value, ...]
    labels: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.labels:
            return ", ".join(map(said, self.values))
        return ", ".join(f"{label}: {said(value)}" for label, value in zip(self.labels, self.values, strict=True))


Value: TypeAlias = Scalar | Measure | Range | Date | Items | str | bool


def number(value: Fraction | int, *, percent: bool = False) -> Scalar:
    return Scalar(bounded(value if isinstance(value, Fraction) else Fraction(value)), percent)


def ranged(bounds: tuple[int, int]) -> Scalar | Range:
    low, high = bounds
    return number(low) if low == high else Range(Fraction(low), Fraction(high))


def bounded(value: Fraction) -> Fraction:
    """The value, if it is not too large to go on with."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ComputeError("the numbers become too large")
    return value


def said(value: Value) -> str:
    """A value as plain text: "87", "3.75", "86 or 87", "1 March 1912", "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def kind(value: Value) -> str:
    """What a value is, for messages."""
    names: dict[type, str] = {
        bool: "a truth value",
        str: "text",
        Items: "a list",
        Date: "a date",
        Range: "a range",
        Measure: "a measure",
    }
    return names.get(type(value), "a number")


def written(value: Fraction) -> str:
    """ "87", "3.75"; what has no end or many decimals is rounded to six decimals, a tiny number to six digits."""
    places = PLACES
    while 0 < abs(value) < Fraction(1, 10 ** (places - PLACES + 1)) and places < 60:
        places += 1
    rounded = half_up(value * 10**places)
    digits = f"{abs(rounded):0{places + 1}d}"
    sign = "-" if rounded < 0 else ""
    return f"{sign}{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")


def half_up(value: Fraction) -> int:
    """Rounded to a whole number as people do it: halves away from zero."""
    whole = (abs(value) + Fraction(1, 2)).__floor__()
    return -whole if value < 0 else whole
