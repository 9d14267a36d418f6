"""Functions of lists and labelled values: sums, means, counts, order."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from iterative_rag.computing.arithmetic import RELATIONS, add, compare, divide, multiply, ordered, related
from iterative_rag.computing.operands import Items, Measure, Range, Scalar, Value, number, said
from iterative_rag.errors import ComputeError

ORDERS = {
    **dict.fromkeys(("asc", "ascending", "smallest", "lowest", "earliest"), False),
    **dict.fromkeys(("desc", "descending", "largest", "highest", "latest"), True),
}


def items(arguments: Sequence[Value], *, least: int = 1) -> Items:
    """The list that is the only argument, or the arguments as a list."""
    one = arguments[0] if len(arguments) == 1 else None
    listed = one if isinstance(one, Items) else Items(tuple(arguments))
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


def product(*arguments: Value) -> Value:
    values = items(arguments).values
    result: Value = number(1)
    for value in values:
        result = multiply(result, value)
    return result


def mean(*arguments: Value) -> Value:
    values = items(arguments).values
    first = values[0]
    if isinstance(first, Measure) and first.unit.offset:  # degrees have a mean, though no sum
        away = [add(value, first, -1) for value in values]
        middle = divide(total(*away), number(len(values)))
        return Measure(first.value + (middle.value if isinstance(middle, Measure) else 0), first.unit)
    if isinstance(first, Scalar) and first.percent:
        return number(sum(map(_fraction, values), Fraction()) / len(values), percent=True)
    return divide(total(*values), number(len(values)))


def _fraction(value: Value) -> Fraction:
    if not isinstance(value, Scalar):
        raise ComputeError(f"{said(value)!r} is not a plain number")
    return value.value


def median(*arguments: Value) -> Value:
    values = items(arguments).values
    order = [values[place] for place in ordered(values)]
    middle = order[(len(order) - 1) // 2 : len(order) // 2 + 1]
    return middle[0] if len(middle) == 1 else mean(*middle)


def least(*arguments: Value) -> Value:
    return _extreme(arguments, descending=False)


def greatest(*arguments: Value) -> Value:
    return _extreme(arguments, descending=True)


def _extreme(arguments: Sequence[Value], *, descending: bool) -> Value:
    values = items(arguments).values
    return values[ordered(values, descending=descending)[0]]


def count(*arguments: Value) -> Value:
    """How many values there are, or how many meet a condition: count([12, 9, 15], '>', 10)."""
    if len(arguments) == 3 and isinstance(arguments[0], Items):
        return number(len(_fulfilling(*arguments)))
    return number(len(items(arguments, least=0).values))


def chosen(listed: Value, relation: Value, limit: Value) -> Value:
    """The values that meet a condition: filter({A: 12, B: 9}, '>', 10) -> A: 12."""
    places = _fulfilling(listed, relation, limit)
    assert isinstance(listed, Items)
    labels = tuple(listed.labels[place] for place in places) if listed.labels else ()
    return Items(tuple(listed.values[place] for place in places), labels)


def _fulfilling(listed: Value, relation: Value, limit: Value) -> list[int]:
    if not isinstance(listed, Items) or not isinstance(relation, str) or relation not in RELATIONS:
        raise ComputeError("write a condition as count([12, 9, 15], '>', 10)")
    return [place for place, value in enumerate(listed.values) if related(value, relation, limit)]


def distinct(*arguments: Value) -> Value:
    values = items(arguments, least=0).values
    order = ordered(values)
    again = {at for before, at in itertools.pairwise(order) if compare(values[before], values[at]) == 0}
    return Items(tuple(value for at, value in enumerate(values) if at not in again))


def in_order(*arguments: Value) -> Value:
    descending, rest = _order(arguments, default=False)
    listed = items(rest, least=0)
    places = ordered(listed.values, descending=descending)
    labels = tuple(listed.labels[place] for place in places) if listed.labels else ()
    return Items(tuple(listed.values[place] for place in places), labels)


def _order(arguments: Sequence[Value], *, default: bool | None) -> tuple[bool, list[Value]]:
    """Whether descending, and the other arguments."""
    said_orders = [value for value in arguments if isinstance(value, str) and value.lower() in ORDERS]
    if not said_orders and default is None:
        raise ComputeError(
            "say whether to count from the largest (desc) or the smallest (asc): nth(3, desc, {A: 12, B: 9})"
        )
    rest = [value for value in arguments if value not in said_orders]
    return (ORDERS[said_orders[0].lower()] if said_orders else bool(default)), rest


def nth(*arguments: Value) -> Value:
    """The value at a rank: nth(3, desc, [..]); of labelled values the label, or all labels that share the rank."""
    descending, rest = _order(arguments, default=None)
    place, *listed = rest
    known = items(listed)
    if not isinstance(place, Scalar) or place.value.denominator != 1 or not 1 <= place.value <= len(known.values):
        raise ComputeError(f"there is no number {said(place)} among {len(known.values)}")
    at = ordered(known.values, descending=descending)[int(place.value) - 1]
    return _named(known, at) if known.labels else known.values[at]


def _named(listed: Items, at: int) -> str:
    same = [n for n, value in enumerate(listed.values) if compare(value, listed.values[at]) == 0]
    return " or ".join(listed.labels[n] for n in same)


def label_of_least(*arguments: Value) -> Value:
    return _label(arguments, descending=False)


def label_of_greatest(*arguments: Value) -> Value:
    return _label(arguments, descending=True)


def _label(arguments: Sequence[Value], *, descending: bool) -> str:
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
