"""The operators on numbers, measures and dates."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cmp_to_key

from iterative_rag.computing import date_arithmetic
from iterative_rag.computing.operands import MOST_BITS, Amount, Value, number, plain, said
from iterative_rag.computing.unit_conversion import Unit, difference_unit, unit_at
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import Date

MOST_POWER = 512
_MONTHS = {"month": 1, "year": 12, "decade": 120, "century": 1200}
_DAYS = {"day": 1, "week": 7}


def add(first: Value, second: Value, sign: int = 1) -> Value:
    """`first + sign * second` for amounts of one dimension, a date or year and a duration, or two dates."""
    match first, second:
        case Amount(unit=None), Amount(unit=Unit() as unit) if unit.calendar in _MONTHS and _is_year(first):
            return number(_moved(as_date(first), second, sign).year)
        case Amount(), Amount():
            if first.percent != second.percent and first.value and second.value:
                raise ComputeError("a percentage of what? write 240 * 1.15 or 240 + 15% of 240")
            if first.unit and first.unit.offset and sign > 0:
                raise ComputeError("temperatures in °C or °F cannot be added")
            result = first.value + sign * second.measured_in(first.unit)
            return number(result, first.unit and difference_unit(first.unit), percent=first.percent)
        case Date(), Amount(unit=Unit()):
            return _moved(first, second, sign)
        case Amount(unit=Unit()), Date() if sign > 0:
            return _moved(second, first, 1)
        case (Date() | Amount(unit=None), Date() | Amount(unit=None)) if sign < 0:
            return _apart(as_date(first), as_date(second))
    raise ComputeError(f"{said(first)} and {said(second)} cannot be added or subtracted")


def _is_year(amount: Amount) -> bool:
    return 0 < amount.value <= date_arithmetic.LAST_YEAR


def subtract(first: Value, second: Value) -> Value:
    return add(first, second, -1)


def _moved(date: Date, time: Amount, sign: int) -> Date:
    name = time.unit.calendar if time.unit else ""
    whole = time.value * (_MONTHS.get(name) or _DAYS.get(name) or 0) * sign
    if (name not in _MONTHS and name not in _DAYS) or whole.denominator != 1:
        raise ComputeError(f"{said(time)} cannot be added to a date; use whole years, months, weeks or days")
    if abs(whole) > date_arithmetic.LAST_YEAR * 366:
        raise ComputeError("the duration is out of range")
    later = date_arithmetic.months_later if name in _MONTHS else date_arithmetic.days_later
    return later(date, int(whole))


def _apart(first: Date, second: Date) -> Value:
    if first.precision == second.precision == 1:
        return number(first.year - second.year)
    if first.precision == second.precision == 3:
        days = date_arithmetic.day_number(first) - date_arithmetic.day_number(second)
        return number(days, unit_at("days", 0)[0])
    raise ComputeError(
        "say which difference between the dates you want: years(a, b), months(a, b), days(a, b) or age(born, day)"
    )


def multiply(first: Value, second: Value) -> Value:
    match first, second:
        case Amount(), Amount(unit=None) if not _is_offset(first):
            return number(first.value * second.value, first.unit)
        case Amount(unit=None), Amount() if not _is_offset(second):
            return number(first.value * second.value, second.unit)
    raise ComputeError(f"{said(first)} and {said(second)} cannot be multiplied")


def divide(first: Value, second: Value) -> Value:
    """An amount by a number, or by one of its dimension."""
    if isinstance(second, Amount) and not second.value:
        raise ComputeError("division by zero")
    match first, second:
        case Amount(), Amount(unit=None) if not _is_offset(first):
            return number(first.value / second.value, first.unit)
        case Amount(unit=Unit()), Amount(unit=Unit()) if not _is_offset(first):
            return number(first.value / second.measured_in(first.unit))
    raise ComputeError(f"{said(first)} cannot be divided by {said(second)}")


def _is_offset(amount: Amount) -> bool:
    return amount.unit is not None and amount.unit.offset


def power(base: Value, exponent: Value) -> Value:
    """Whole-number powers of numbers only."""
    exact, times = plain(base), plain(exponent)
    if times.denominator != 1:
        raise ComputeError("a power is that of a number, by a whole number")
    bits = max(exact.numerator.bit_length(), exact.denominator.bit_length())
    if abs(times) > MOST_POWER or bits * abs(times) > MOST_BITS:
        raise ComputeError("the power is too large")
    if not exact and times < 0:
        raise ComputeError("division by zero")
    return number(exact ** int(times))


def negated(value: Value) -> Value:
    if not isinstance(value, Amount):
        raise ComputeError(f"{said(value)} cannot be negated")
    return replace(value, value=-value.value)


def as_date(value: Value) -> Date:
    """The date of a date, a year, or a text that is either. Raises ComputeError for anything else."""
    if isinstance(value, Date):
        return value
    if isinstance(value, str):
        text = value.strip()
        if text.isascii() and text.isdigit() and len(text) <= 4:
            return as_date(number(int(text)))
        reading = date_arithmetic.read_date(text)
        if reading and reading[1] == len(text):
            return reading[0]
    if not isinstance(value, Amount) or value.unit or value.value.denominator != 1:
        raise ComputeError(f"{said(value)!r} is not a date; write 1 March 1912, March 1912, 1912 or 44 BC")
    if not 1 <= value.value <= date_arithmetic.LAST_YEAR:
        raise ComputeError(f"{said(value)} is not a year; write 44 BC for a year before Christ")
    return Date(int(value.value))


# --- order ---------------------------------------------------------------------------------------

RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


def compare(first: Value, second: Value) -> int:
    """-1, 0 or 1. Raises ComputeError where two values have no order or are not known well enough to order them."""
    match first, second:
        case Amount(), Amount():
            other = second.measured_in(first.unit)
            return (first.value > other) - (first.value < other)
        case (Date() | Amount(unit=None), Date() | Amount(unit=None)):
            start, end = as_date(first), as_date(second)
            if start != end and start.earliest() <= end.latest() and end.earliest() <= start.latest():
                raise ComputeError(f"it is not known which comes first, {start} or {end}")
            return (start > end) - (start < end)
        case str(), str():
            return (first.casefold() > second.casefold()) - (first.casefold() < second.casefold())
    raise ComputeError(f"{said(first)} and {said(second)} cannot be compared")


def related(first: Value, relation: str, second: Value) -> bool:
    """Whether `first relation second` holds. Raises ComputeError where the two have no order."""
    return RELATIONS[relation](compare(first, second), 0)


def ordered(values: Sequence[Value], *, descending: bool = False) -> list[int]:
    """The indices of the values in ascending (or descending) order; the sort is stable."""
    key = cmp_to_key(compare)
    return sorted(range(len(values)), key=lambda index: key(values[index]), reverse=descending)
