"""The values that an expression may have, their size limit, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from iterative_rag.computing.unit_conversion import Unit
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import Date

# An integer of 600 digits is more than any fact holds.
MOST_BITS = 2048
# Decimals shown of a number without a finite expansion.
PLACES = 6


@dataclass(frozen=True, slots=True)
class Scalar:
    """An exact number; `percent` says that it is written as a percentage ("25%" is 1/4)."""

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
    """A whole number of which only bounds are known, such as an age from two years."""

    low: Fraction
    high: Fraction

    def __str__(self) -> str:
        joint = "or" if self.high - self.low == 1 else "to"
        return f"{written(self.low)} {joint} {written(self.high)}"


@dataclass(frozen=True, slots=True)
class Items:
    """A list; labelled values if `labels` is not empty."""

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
    """The value. Raises ComputeError if it is too large to compute with."""
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > MOST_BITS:
        raise ComputeError("the numbers get too large")
    return value


def said(value: Value) -> str:
    """A value as plain text: "87", "3.75", "86 or 87", "1 March 1912", "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def kind(value: Value) -> str:
    """The kind of a value, for messages."""
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
