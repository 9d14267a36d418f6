"""The functions that an expression may call, in one table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial, reduce

from iterative_rag.computing import arithmetic
from iterative_rag.computing.arithmetic import RELATIONS, add, as_date, compare, divide, ordered
from iterative_rag.computing.operands import Amount, Items, Value, half_up, number, plain, said
from iterative_rag.errors import ComputeError
from iterative_rag.text.dates import WEEKDAYS

Function = Callable[..., Value]
ORDERS = {
    **dict.fromkeys(("asc", "ascending", "smallest", "lowest", "earliest"), False),
    **dict.fromkeys(("desc", "descending", "largest", "highest", "latest"), True),
}


def _whole(value: Value, least: int, most: int, *, what: str) -> int:
    exact = plain(value)
    if exact.denominator != 1 or not least <= exact <= most:
        raise ComputeError(f"there is no {what} {said(value)}; it goes from {least} to {most}")
    return int(exact)


def rounded(value: Value, places: Value | None = None) -> Value:
    """Rounded to `places` decimals (negative ones round to tens, hundreds), halves away from zero."""
    if not isinstance(value, Amount):
        raise ComputeError(f"{said(value)!r} is not a number")
    digits = _whole(places, -100, 100, what="number of decimals") if places is not None else 0
    scale = Fraction(10) ** digits * (100 if value.percent else 1)
    return number(half_up(value.value * scale) / scale, value.unit, percent=value.percent)


def _listed(arguments: Sequence[Value]) -> Items:
    """The list that is the only argument, or the arguments as a list; not empty."""
    only = arguments[0] if len(arguments) == 1 else None
    listed = only if isinstance(only, Items) else Items(tuple(arguments))
    if not listed.values:
        raise ComputeError("the list is empty")
    if any(isinstance(value, Items) for value in listed.values):
        raise ComputeError("lists cannot be nested")
    return listed


def total(*arguments: Value) -> Value:
    values = _listed(arguments).values
    if not isinstance(values[0], Amount):
        raise ComputeError(f"{said(values[0])!r} is not a number")
    return reduce(add, values)


def mean(*arguments: Value) -> Value:
    """In the unit of the first value: degrees have a mean, though no sum."""
    amounts = [value for value in _listed(arguments).values if isinstance(value, Amount)]
    if len(amounts) < len(_listed(arguments).values):
        raise ComputeError("what has a mean is not a number: write mean([12, 9, 15])")
    first = amounts[0]
    middle = sum((amount.measured_in(first.unit) for amount in amounts), Fraction()) / len(amounts)
    return number(middle, first.unit, percent=first.percent)


def median(*arguments: Value) -> Value:
    values = _listed(arguments).values
    order = [values[index] for index in ordered(values)]
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    return middle[0] if len(middle) == 1 else mean(*middle)


def _extreme(*arguments: Value, descending: bool, label: bool = False) -> Value:
    """The least or the greatest value, or its label."""
    listed = _listed(arguments)
    if label and not listed.labels:
        raise ComputeError("argmin and argmax need labelled values: argmax({Anna: 12, Bo: 9})")
    at = ordered(listed.values, descending=descending)[0]
    return _named(listed, at) if label else listed.values[at]


def count(*arguments: Value) -> Value:
    """How many values there are, or how many meet a condition: count([12, 9, 15], '>', 10), count([12 > 9, 9 > 12])."""
    listed = arguments[0] if arguments else None
    if len(arguments) <= 1 or not isinstance(listed, Items):
        values = listed.values if isinstance(listed, Items) else arguments
        return number(sum(value is not False for value in values))
    if len(arguments) != 3 or arguments[1] not in RELATIONS:
        raise ComputeError("write a condition as count([12, 9, 15], '>', 10)")
    return number(sum(RELATIONS[str(arguments[1])](compare(value, arguments[2]), 0) for value in listed.values))


def _order(arguments: Sequence[Value]) -> tuple[bool | None, list[Value]]:
    """Whether descending, None where that is not said, and the other arguments."""
    orders = [value for value in arguments if isinstance(value, str) and value.lower() in ORDERS]
    return ORDERS[orders[0].lower()] if orders else None, [value for value in arguments if value not in orders]


def in_order(*arguments: Value) -> Value:
    descending, rest = _order(arguments)
    listed = _listed(rest)
    places = ordered(listed.values, descending=bool(descending))
    labels = tuple(listed.labels[index] for index in places) if listed.labels else ()
    return Items(tuple(listed.values[index] for index in places), labels)


def nth(*arguments: Value) -> Value:
    """The value at a rank: nth(3, desc, [12, 9, 15]); of labelled values the label."""
    descending, rest = _order(arguments)
    if descending is None:
        raise ComputeError("say whether to count from the largest (desc) or the smallest (asc): nth(3, desc, [12, 9])")
    listed = _listed(rest[1:])
    at = ordered(listed.values, descending=descending)[_whole(rest[0], 1, len(listed.values), what="number") - 1]
    return _named(listed, at) if listed.labels else listed.values[at]


def _named(listed: Items, at: int) -> str:
    """The label of a value; all labels of values that are the same."""
    same = (n for n, value in enumerate(listed.values) if compare(value, listed.values[at]) == 0)
    return " or ".join(listed.labels[n] for n in same)


FUNCTIONS: dict[str, Function] = {
    "round": rounded,
    "percent": lambda part, of: number(plain(divide(part, of)), percent=True),  # percent(3, 4): 75%
    "change": lambda old, new: number(plain(divide(new, old)) - 1, percent=True),  # change(200, 250): 25%
    "sum": total,
    "mean": mean,
    "average": mean,
    "avg": mean,
    "median": median,
    "min": partial(_extreme, descending=False),
    "max": partial(_extreme, descending=True),
    "argmin": partial(_extreme, descending=False, label=True),
    "argmax": partial(_extreme, descending=True, label=True),
    "count": count,
    "sort": in_order,
    "nth": nth,
    "years": partial(arithmetic.between, unit="years"),
    "months": partial(arithmetic.between, unit="months"),
    "days": partial(arithmetic.between, unit="days"),
    "age": arithmetic.age,
    "duration": arithmetic.duration,
    "weekday": lambda day: WEEKDAYS[(arithmetic.day_number(as_date(day)) - 1) % 7],
}


def called(name: str, arguments: Sequence[Value]) -> Value:
    """The result of calling a function by its name. Raises ComputeError."""
    function = FUNCTIONS[name]
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise ComputeError(f"{name}() takes another number of values than {len(arguments)}") from error
    return function(*arguments)
