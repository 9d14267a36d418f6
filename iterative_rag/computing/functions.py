"""The functions that an expression may call, in one table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

from iterative_rag.computing import date_arithmetic
from iterative_rag.computing.arithmetic import RELATIONS, add, as_date, compare, divide, ordered, related
from iterative_rag.computing.operands import (
    Items,
    Measure,
    Range,
    Scalar,
    Value,
    bounded,
    half_up,
    number,
    ranged,
    said,
)
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import Date

Function = Callable[..., Value]


# --- numbers -------------------------------------------------------------------------------------


def plain_number(value: Value) -> Scalar:
    if not isinstance(value, Scalar):
        raise ComputeError(f"expected a number, not {said(value)!r}")
    return value


def rounded(value: Value, places: Value | None = None) -> Value:
    """Rounded to `places` decimals (negative ones round to tens, hundreds), halves away from zero."""
    digits = plain_number(places).value if places is not None else Fraction(0)
    if digits.denominator != 1 or abs(digits) > 100:
        raise ComputeError("the number of decimals must be a whole number between -100 and 100")
    scale = Fraction(10) ** int(digits)
    if isinstance(value, Measure):
        return Measure(bounded(half_up(value.value * scale) / scale), value.unit)
    exact = plain_number(value)
    scale *= 100 if exact.percent else 1
    return number(half_up(exact.value * scale) / scale, percent=exact.percent)


def percent(part: Value, of: Value) -> Value:
    """percent(3, 4) -> 75%."""
    return number(plain_number(divide(part, of)).value, percent=True)


def change(old: Value, new: Value) -> Value:
    """change(200, 250) -> 25%: the relative change from the old value to the new one."""
    return number(plain_number(divide(new, old)).value - 1, percent=True)


# --- dates ---------------------------------------------------------------------------------------


def _difference(unit: str) -> Function:
    def difference(first: Value, second: Value) -> Value:
        return ranged(date_arithmetic.between(as_date(first), as_date(second), unit))

    return difference


def _to_day(value: Value) -> Date:
    date = as_date(value)
    if not date.day:
        raise ComputeError(f"the day of {date} is not given")
    return date


# --- lists ---------------------------------------------------------------------------------------

ORDERS = {
    **dict.fromkeys(("asc", "ascending", "smallest", "lowest", "earliest"), False),
    **dict.fromkeys(("desc", "descending", "largest", "highest", "latest"), True),
}


def items(arguments: Sequence[Value], *, least: int = 1) -> Items:
    """The list that is the only argument, or the arguments as a list."""
    only = arguments[0] if len(arguments) == 1 else None
    listed = only if isinstance(only, Items) else Items(tuple(arguments))
    if len(listed.values) < least:
        raise ComputeError("the list is empty")
    if any(isinstance(value, Items) for value in listed.values):
        raise ComputeError("lists cannot be nested")
    return listed


def total(*arguments: Value) -> Value:
    values = items(arguments).values
    result = values[0]
    if not isinstance(result, Scalar | Measure | Range):
        raise ComputeError(f"{said(result)!r} is not a number")
    for value in values[1:]:
        result = add(result, value)
    return result


def mean(*arguments: Value) -> Value:
    values = items(arguments).values
    first = values[0]
    if isinstance(first, Measure) and first.unit.offset:  # degrees have a mean, though no sum
        away = [add(value, first, -1) for value in values]
        middle = divide(total(*away), number(len(values)))
        return Measure(first.value + (middle.value if isinstance(middle, Measure) else 0), first.unit)
    if isinstance(first, Scalar) and first.percent:
        return number(sum((plain_number(value).value for value in values), Fraction()) / len(values), percent=True)
    return divide(total(*values), number(len(values)))


def median(*arguments: Value) -> Value:
    values = items(arguments).values
    order = [values[index] for index in ordered(values)]
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    return middle[0] if len(middle) == 1 else mean(*middle)


def _extreme(*arguments: Value, descending: bool) -> Value:
    values = items(arguments).values
    return values[ordered(values, descending=descending)[0]]


def count(*arguments: Value) -> Value:
    """How many values there are, or how many meet a condition: count([12, 9, 15], '>', 10)."""
    listed, *condition = arguments or (Items(()),)
    if len(condition) != 2 or not isinstance(listed, Items):
        return number(len(items(arguments, least=0).values))
    relation, limit = condition
    if relation not in RELATIONS:
        raise ComputeError("write a condition as count([12, 9, 15], '>', 10)")
    return number(sum(related(value, str(relation), limit) for value in listed.values))


def in_order(*arguments: Value) -> Value:
    descending, rest = _order(arguments, default=False)
    listed = items(rest, least=0)
    places = ordered(listed.values, descending=descending)
    labels = tuple(listed.labels[index] for index in places) if listed.labels else ()
    return Items(tuple(listed.values[index] for index in places), labels)


def _order(arguments: Sequence[Value], *, default: bool | None) -> tuple[bool, list[Value]]:
    """Whether descending, and the other arguments."""
    said_orders = [value for value in arguments if isinstance(value, str) and value.lower() in ORDERS]
    rest = [value for value in arguments if value not in said_orders]
    if said_orders:
        return ORDERS[said_orders[0].lower()], rest
    if default is None:
        raise ComputeError("say whether to count from the largest (desc) or the smallest (asc): nth(3, desc, {A: 12})")
    return default, rest


def nth(*arguments: Value) -> Value:
    """The value at a rank: nth(3, desc, [..]); of labelled values the label, or all labels that share the rank."""
    descending, rest = _order(arguments, default=None)
    ordinal, *listed = rest
    known = items(listed)
    if not isinstance(ordinal, Scalar) or ordinal.value.denominator != 1 or not 1 <= ordinal.value <= len(known.values):
        raise ComputeError(f"there is no number {said(ordinal)} among {len(known.values)}")
    at = ordered(known.values, descending=descending)[int(ordinal.value) - 1]
    return _named(known, at) if known.labels else known.values[at]


def _named(listed: Items, at: int) -> str:
    same = [n for n, value in enumerate(listed.values) if compare(value, listed.values[at]) == 0]
    return " or ".join(listed.labels[n] for n in same)


def _label(*arguments: Value, descending: bool) -> str:
    listed = items(arguments)
    if not listed.labels:
        raise ComputeError("argmin and argmax need labelled values: argmax({Anna: 12, Bo: 9})")
    return _named(listed, ordered(listed.values, descending=descending)[0])


def rank(*arguments: Value) -> Value:
    """The rank of a label, from 1: rank('Bo', desc, {Anna: 12, Bo: 9}) -> 2. Equal values share the better rank."""
    descending, rest = _order(arguments, default=None)
    label, *listed = rest
    known = items(listed)
    folded = [name.casefold() for name in known.labels]
    if not isinstance(label, str) or label.casefold() not in folded:
        raise ComputeError(f"there is no label {said(label)!r}")
    mine = known.values[folded.index(label.casefold())]
    side = 1 if descending else -1
    return number(1 + sum(compare(value, mine) == side for value in known.values))


FUNCTIONS: dict[str, Function] = {
    "round": rounded,
    "percent": percent,
    "change": change,
    "sum": total,
    "mean": mean,
    "average": mean,
    "avg": mean,
    "median": median,
    "min": partial(_extreme, descending=False),
    "max": partial(_extreme, descending=True),
    "count": count,
    "sort": in_order,
    "nth": nth,
    "argmin": partial(_label, descending=False),
    "argmax": partial(_label, descending=True),
    "rank": rank,
    "years": _difference("years"),
    "months": _difference("months"),
    "days": _difference("days"),
    "age": lambda born, on: ranged(date_arithmetic.age(as_date(born), as_date(on))),
    "duration": lambda first, second: date_arithmetic.duration(_to_day(first), _to_day(second)),
    "weekday": lambda day: date_arithmetic.weekday(_to_day(day)),
}


def called(name: str, arguments: Sequence[Value]) -> Value:
    """The result of calling a function by its name. Raises ComputeError."""
    function = FUNCTIONS[name]
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise ComputeError(f"{name}() takes another number of values than {len(arguments)}") from error
    return function(*arguments)
