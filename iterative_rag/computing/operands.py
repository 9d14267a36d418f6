"""The values that an expression may have, their size limit, and how they are written."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from iterative_rag.computing.unit_conversion import Unit, converted
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import Date

# An integer of 600 digits is more than any fact holds.
MOST_BITS = 2048
# Decimals shown of a number without a finite expansion.
PLACES = 6


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
