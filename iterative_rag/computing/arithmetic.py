"""The operators on numbers, measures, ranges and dates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cmp_to_key

from iterative_rag.computing import date_arithmetic, unit_conversion
from iterative_rag.computing.date_arithmetic import Date
from iterative_rag.computing.operands import MOST_BITS, Measure, Range, Scalar, Value, bounded, kind, number, said
from iterative_rag.errors import ComputeError

MOST_POWER = 512
_MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1200}
_DAYS = {"day": 1, "week": 7}


def add(first: Value, second: Value, sign: int = 1) -> Value:
    """`first + sign * second` for numbers, measures of one dimension, ranges, a date and a duration, or two dates."""
    match first, second:
        case Scalar(), Scalar():
            if first.percent != second.percent and first.value and second.value:
                raise ComputeError("a percentage of what? write 240 * 1.15 or 240 + 15% of 240")
            return number(first.value + sign * second.value, percent=first.percent)
        case Measure(), Measure():
            return _add_quantities(first, second, sign)
        case (Range() | Scalar(), Range() | Scalar()):
            low, high = _bounds(second)
            mine = _bounds(first)
            ends = (low, high) if sign > 0 else (-high, -low)
            return Range(mine[0] + ends[0], mine[1] + ends[1])
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


def _bounds(value: Scalar | Range) -> tuple[Fraction, Fraction]:
    return (value.low, value.high) if isinstance(value, Range) else (value.value, value.value)


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
    if isinstance(first, Scalar) and isinstance(second, Scalar):
        return number(first.value * second.value)
    left, right = _measured(first), _measured(second)
    return _made(bounded(left[0] * right[0]), *_units(left[1], right[1], 1))


def divide(first: Value, second: Value) -> Value:
    left, right = _measured(first), _measured(second)
    if not right[0]:
        raise ComputeError("division by zero")
    return _made(bounded(left[0] / right[0]), *_units(left[1], right[1], -1))


def _measured(value: Value) -> tuple[Fraction, unit_conversion.Unit | None]:
    if isinstance(value, Scalar):
        return value.value, None
    if isinstance(value, Measure):
        return value.value, value.unit
    raise ComputeError(f"{kind(value)} cannot be multiplied or divided: {said(value)}")


def _units(
    first: unit_conversion.Unit | None, second: unit_conversion.Unit | None, power: int
) -> tuple[unit_conversion.Unit | None, Fraction]:
    """The unit of a product, and the factor by which its number has to be multiplied."""
    for unit in (first, second):
        if unit is not None and unit.offset:
            raise ComputeError("temperatures in °C or °F cannot be multiplied; convert them to kelvin")
    if second is None:
        return first, Fraction(1)
    made = unit_conversion.combined(power, second) if first is None else unit_conversion.combined(power, first, second)
    return (made, Fraction(1)) if unit_conversion.plain(made) else (None, unit_conversion.factor(made))


def _made(value: Fraction, unit: unit_conversion.Unit | None, scale: Fraction) -> Value:
    return number(value * scale) if unit is None else Measure(value, unit)


def power(base: Value, exponent: Value) -> Value:
    """Whole-number powers only; a root is sqrt(x)."""
    if not isinstance(exponent, Scalar) or exponent.value.denominator != 1:
        raise ComputeError("a power must be a whole number; write sqrt(x) for a root")
    value, unit = _measured(base)
    n = int(exponent.value) if abs(exponent.value) <= MOST_POWER else MOST_POWER + 1
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if abs(n) > MOST_POWER or bits * abs(n) > MOST_BITS:
        raise ComputeError("the power is too large")
    if not value and n < 0:
        raise ComputeError("division by zero")
    return number(value**n) if unit is None else Measure(value**n, unit_conversion.combined(n, unit))


def negated(value: Value) -> Value:
    match value:
        case Scalar():
            return Scalar(-value.value, value.percent)
        case Measure():
            return Measure(-value.value, value.unit)
        case Range():
            return Range(-value.high, -value.low)
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
        case (Range() | Scalar(), Range() | Scalar()):
            left, right = _bounds(first), _bounds(second)
            if left[1] < right[0] or right[1] < left[0]:
                return -1 if left[1] < right[0] else 1
            raise ComputeError(f"{said(first)} and {said(second)} cannot be told apart")
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
    """Whether `first relation second` holds. "36 or 37" is over 35; whether it is over 36 is undecided.

    Raises ComputeError where it is undecided.
    """
    if not (isinstance(first, Range | Scalar) and isinstance(second, Range | Scalar)):
        return _HOLDS[relation](compare(first, second))
    left, right = _bounds(first), _bounds(second)
    orders = {_sign(left[0], right[1]), _sign(left[1], right[0])}
    if orders == {-1, 1}:
        orders.add(0)
    held = {_HOLDS[relation](order) for order in orders}
    if len(held) > 1:
        raise ComputeError(f"whether {said(first)} {relation} {said(second)} cannot be told")
    return held.pop()


def ordered(values: Sequence[Value], *, descending: bool = False) -> list[int]:
    """The indices of the values in ascending (or descending) order; the sort is stable."""

    def order(first: int, second: int) -> int:
        return compare(values[first], values[second])

    return sorted(range(len(values)), key=cmp_to_key(order), reverse=descending)
