"""The operators on numbers, measures and dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cmp_to_key

from iterative_rag.computing import date_arithmetic, unit_conversion
from iterative_rag.computing.operands import MOST_BITS, Measure, Scalar, Value, bounded, kind, number, said
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import Date

MOST_POWER = 512
_MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1200}
_DAYS = {"day": 1, "week": 7}


def add(first: Value, second: Value, sign: int = 1) -> Value:
    """`first + sign * second` for numbers, measures of one dimension, a date and a duration, or two dates."""
    match first, second:
        case Scalar(), Scalar():
            if first.percent != second.percent and first.value and second.value:
                raise ComputeError("a percentage of what? write 240 * 1.15 or 240 + 15% of 240")
            return number(first.value + sign * second.value, percent=first.percent)
        case Measure(), Measure():
            return _add_quantities(first, second, sign)
        case Date(), Measure():
            return _moved(first, second, sign)
        case Measure(), Date() if sign > 0:
            return _moved(second, first, 1)
        case Scalar(), Measure() if second.unit.calendar in _MONTHS and 0 < first.value <= date_arithmetic.LAST_YEAR:
            return number(_moved(as_date(first), second, sign).year)
        case (Date() | Scalar(), Date() | Scalar()) if sign < 0:
            return _apart(as_date(first), as_date(second))
    raise ComputeError(f"{kind(first)} and {kind(second)} cannot be added or subtracted: {said(first)}, {said(second)}")


def _add_quantities(first: Measure, second: Measure, sign: int) -> Measure:
    if first.unit.offset and sign > 0:
        raise ComputeError("temperatures in °C or °F cannot be added")
    other = unit_conversion.converted(second.value, second.unit, first.unit)
    return Measure(bounded(first.value + sign * other), unit_conversion.difference_unit(first.unit))


def _moved(date: Date, time: Measure, sign: int) -> Date:
    name = time.unit.calendar
    each = _MONTHS.get(name) or _DAYS.get(name)
    whole = time.value * (each or 0) * sign
    if each is None or whole.denominator != 1:
        raise ComputeError(f"{said(time)} cannot be added to a date; use whole years, months, weeks or days")
    if abs(whole) > date_arithmetic.LAST_YEAR * 366:
        raise ComputeError("the duration is out of range")
    return date_arithmetic.later(date, **{"months" if name in _MONTHS else "days": int(whole)})


def _apart(first: Date, second: Date) -> Value:
    if first.precision == second.precision == 1:
        return number(first.year - second.year)
    if first.precision == second.precision == 3:
        return Measure(
            Fraction(date_arithmetic.day_number(first) - date_arithmetic.day_number(second)),
            unit_conversion.unit("days"),
        )
    raise ComputeError(
        "say which difference between the dates you want: years(a, b), months(a, b), days(a, b) or age(born, day)"
    )


def multiply(first: Value, second: Value) -> Value:
    match first, second:
        case Scalar(), Scalar():
            return number(first.value * second.value)
        case Measure(), Scalar() if not first.unit.offset:
            return Measure(bounded(first.value * second.value), first.unit)
        case Scalar(), Measure():
            return multiply(second, first)
    raise ComputeError(f"{kind(first)} and {kind(second)} cannot be multiplied: {said(first)}, {said(second)}")


def divide(first: Value, second: Value) -> Value:
    """A number or measure by a number, or a measure by one of its dimension."""
    if isinstance(second, Scalar | Measure) and not second.value:
        raise ComputeError("division by zero")
    match first, second:
        case Scalar(), Scalar():
            return number(first.value / second.value)
        case Measure(), Scalar() if not first.unit.offset:
            return Measure(bounded(first.value / second.value), first.unit)
        case Measure(), Measure() if not first.unit.offset:
            return number(first.value / unit_conversion.converted(second.value, second.unit, first.unit))
    raise ComputeError(f"{kind(first)} cannot be divided by {kind(second)}: {said(first)}, {said(second)}")


def power(base: Value, exponent: Value) -> Value:
    """Whole-number powers of numbers only."""
    if not (isinstance(base, Scalar) and isinstance(exponent, Scalar) and exponent.value.denominator == 1):
        raise ComputeError("a power is that of a number, by a whole number")
    bits = max(base.value.numerator.bit_length(), base.value.denominator.bit_length())
    if abs(exponent.value) > MOST_POWER or bits * abs(exponent.value) > MOST_BITS:
        raise ComputeError("the power is too large")
    if not base.value and exponent.value < 0:
        raise ComputeError("division by zero")
    return number(base.value ** int(exponent.value))


def negated(value: Value) -> Value:
    match value:
        case Scalar():
            return Scalar(-value.value, value.percent)
        case Measure():
            return Measure(-value.value, value.unit)
    raise ComputeError(f"{kind(value)} cannot be negated: {said(value)}")


def as_date(value: Value) -> Date:
    """The date of a date, a year, or a text that is either. Raises ComputeError for anything else."""
    if isinstance(value, Date):
        return value
    if isinstance(value, Scalar) and value.value.denominator == 1:
        if not 1 <= value.value <= date_arithmetic.LAST_YEAR:
            raise ComputeError(f"{said(value)} is not a year; write 44 BC for a year before Christ")
        return date_arithmetic.dated(int(value.value))
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdigit() and len(text) <= 4:
            return as_date(number(int(text)))
        reading = date_arithmetic.read_date(text)
        if reading and reading[1] == len(text):
            return reading[0]
    raise ComputeError(f"{said(value)!r} is not a date; write 1 March 1912, March 1912, 1912 or 44 BC")


# --- order ---------------------------------------------------------------------------------------


def compare(first: Value, second: Value) -> int:
    """-1, 0 or 1. Raises ComputeError where two values have no order or are not known well enough to order them."""
    match first, second:
        case Scalar(), Scalar():
            return _sign(first.value, second.value)
        case Measure(), Measure():
            return _sign(first.value, unit_conversion.converted(second.value, second.unit, first.unit))
        case (Date() | Scalar(), Date() | Scalar()):
            return _earlier(as_date(first), as_date(second))
        case str(), str():
            return (first.casefold() > second.casefold()) - (first.casefold() < second.casefold())
        case bool(), bool():
            return int(first) - int(second)
    raise ComputeError(f"{said(first)} ({kind(first)}) and {said(second)} ({kind(second)}) cannot be compared")


def _sign(first: Fraction, second: Fraction) -> int:
    return (first > second) - (first < second)


def _earlier(first: Date, second: Date) -> int:
    if first.latest() < second.earliest():
        return -1
    if second.latest() < first.earliest():
        return 1
    if first == second:
        return 0
    raise ComputeError(f"it is not known which comes first, {first} or {second}")


_HOLDS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    "=": lambda order: order == 0,
    "==": lambda order: order == 0,
    "!=": lambda order: order != 0,
    ">=": lambda order: order >= 0,
    ">": lambda order: order > 0,
}
RELATIONS = tuple(_HOLDS)


def related(first: Value, relation: str, second: Value) -> bool:
    """Whether `first relation second` holds. Raises ComputeError where the two have no order."""
    return _HOLDS[relation](compare(first, second))


def ordered(values: Sequence[Value], *, descending: bool = False) -> list[int]:
    """The indices of the values in ascending (or descending) order; the sort is stable."""

    def order(first: int, second: int) -> int:
        return compare(values[first], values[second])

    return sorted(range(len(values)), key=cmp_to_key(order), reverse=descending)
