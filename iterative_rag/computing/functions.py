"""The functions that an expression may call, in one table."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from iterative_rag.computing import date_arithmetic, list_functions
from iterative_rag.computing.arithmetic import as_date, compare, divide
from iterative_rag.computing.date_arithmetic import Date
from iterative_rag.computing.operands import Measure, Scalar, Value, bounded, half_up, number, ranged, said
from iterative_rag.errors import ComputeError
from iterative_rag.text.values import ordinal_ending

Function = Callable[..., Value]


# --- numbers -------------------------------------------------------------------------------------


def _kept_unit(change: Callable[[Fraction], Fraction | int]) -> Function:
    """A function of a number that keeps its unit."""

    def applied(value: Value) -> Value:
        if isinstance(value, Measure):
            return Measure(bounded(Fraction(change(value.value))), value.unit)
        return number(change(plain_number(value).value), percent=plain_number(value).percent)

    return applied


def plain_number(value: Value) -> Scalar:
    if not isinstance(value, Scalar):
        raise ComputeError(f"expected a number, not {said(value)!r}")
    return value


def whole(value: Value) -> int:
    wanted = plain_number(value).value
    if wanted.denominator != 1 or abs(wanted) > 10**6:
        raise ComputeError(f"expected a whole number, not {said(value)}")
    return int(wanted)


def rounded(value: Value, places: Value | None = None) -> Value:
    """Rounded to `places` decimals (negative ones round to tens, hundreds), halves away from zero."""
    digits = whole(places) if places is not None else 0
    if not -100 <= digits <= 100:
        raise ComputeError("the number of decimals must be between -100 and 100")
    scale = Fraction(10) ** digits
    if isinstance(value, Scalar) and value.percent:
        scale *= 100
    return _kept_unit(lambda exact: half_up(exact * scale) / scale)(value)


def root(value: Value) -> Value:
    """The square root: exact if it is rational, else to 30 decimals."""
    square = plain_number(value).value
    if square < 0:
        raise ComputeError("a negative number has no square root")
    top, bottom = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return number(Fraction(top, bottom))
    scale = 10**30
    return number(Fraction(math.isqrt(square.numerator * scale * scale // square.denominator), scale))


def modulo(value: Value, divisor: Value) -> Value:
    if not plain_number(divisor).value:
        raise ComputeError("division by zero")
    return number(plain_number(value).value % plain_number(divisor).value)


def percent(part: Value, of: Value) -> Value:
    """percent(3, 4) -> 75%."""
    return number(plain_number(divide(part, of)).value, percent=True)


def change(old: Value, new: Value) -> Value:
    """change(200, 250) -> 25%: the relative change from the old value to the new one."""
    return number(plain_number(divide(new, old)).value - 1, percent=True)


def is_between(value: Value, low: Value, high: Value) -> Value:
    return compare(low, value) <= 0 <= compare(high, value)


# --- dates ---------------------------------------------------------------------------------------


def _difference(unit: str) -> Function:
    def difference(first: Value, second: Value) -> Value:
        return ranged(date_arithmetic.between(as_date(first), as_date(second), unit))

    return difference


def _to_month(value: Value) -> Date:
    date = as_date(value)
    if not date.month:
        raise ComputeError(f"the month of {date} is not given")
    return date


def _to_day(value: Value) -> Date:
    date = _to_month(value)
    if not date.day:
        raise ComputeError(f"the day of {date} is not given")
    return date


def year(value: Value) -> Value:
    date = as_date(value)
    return number(date.year) if date.year > 0 else str(date.cut(1))


def decade(value: Value) -> Value:
    date = as_date(value)
    if date.year < 1:
        raise ComputeError("a year before Christ has no decade here")
    return f"{date.year // 10 * 10}s"


def century(value: Value) -> Value:
    date = as_date(value)
    before = date.year < 1
    count = ((1 - date.year if before else date.year) - 1) // 100 + 1
    return f"{count}{ordinal_ending(count)} century{' BC' if before else ''}"


def made_date(year: Value, month: Value | None = None, day: Value | None = None) -> Value:
    """date(1912, 3, 1), or date('1 March 1912')."""
    if month is None:
        return as_date(year)
    return date_arithmetic.dated(as_date(year).year, whole(month), whole(day) if day is not None else 0)


def julian(date: Value, month: Value | None = None, day: Value | None = None) -> Value:
    """A Julian date in the Gregorian calendar; write days that only the Julian one has as julian(1700, 2, 29)."""
    if month is None or day is None:
        return date_arithmetic.from_julian(_to_day(date))
    return date_arithmetic.from_julian(Date(as_date(date).year, whole(month), whole(day)))


FUNCTIONS: dict[str, Function] = {
    "abs": _kept_unit(abs),
    "floor": _kept_unit(math.floor),
    "ceil": _kept_unit(math.ceil),
    "round": rounded,
    "sqrt": root,
    "mod": modulo,
    "percent": percent,
    "change": change,
    "between": is_between,
    "sum": list_functions.total,
    "product": list_functions.product,
    "mean": list_functions.mean,
    "average": list_functions.mean,
    "avg": list_functions.mean,
    "median": list_functions.median,
    "min": list_functions.least,
    "max": list_functions.greatest,
    "count": list_functions.count,
    "len": list_functions.count,
    "filter": list_functions.chosen,
    "unique": list_functions.distinct,
    "sort": list_functions.in_order,
    "nth": list_functions.nth,
    "argmin": list_functions.label_of_least,
    "argmax": list_functions.label_of_greatest,
    "rank": list_functions.rank,
    "date": made_date,
    "years": _difference("years"),
    "months": _difference("months"),
    "weeks": _difference("weeks"),
    "days": _difference("days"),
    "age": lambda born, on: ranged(date_arithmetic.age(as_date(born), as_date(on))),
    "duration": lambda first, second: date_arithmetic.duration(_to_day(first), _to_day(second)),
    "weekday": lambda day: date_arithmetic.weekday(_to_day(day)),
    "year": year,
    "month": lambda date: date_arithmetic.MONTHS[_to_month(date).month - 1],
    "day": lambda date: number(_to_day(date).day),
    "decade": decade,
    "century": century,
    "leap": lambda date: date_arithmetic.is_leap(as_date(date).year),
    "julian": julian,
}


@cache
def _accepted(name: str) -> tuple[int, float]:
    """The minimum and maximum number of arguments of a function."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    positional = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]
    needed = [parameter for parameter in positional if parameter.default is parameter.empty]
    return (len(needed), len(positional)) if len(positional) == len(parameters) else (1, math.inf)


def called(name: str, arguments: Sequence[Value]) -> Value:
    """The result of calling a function by its name. Raises ComputeError."""
    least, most = _accepted(name)
    if not least <= len(arguments) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ComputeError(f"{name}() takes {wanted} values, not {len(arguments)}")
    return FUNCTIONS[name](*arguments)
