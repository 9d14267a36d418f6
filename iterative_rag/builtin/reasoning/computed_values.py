"""Computes the operations of a plan from looked-up values: differences, years between, comparisons, joined names.

Who asks for a difference takes for granted that there is one. Where it comes out as nothing, the same value was read
for both sides: that is no answer. Where it goes the other way than the question says, the answer says so.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from iterative_rag.builtin.language.text_values import amounts, dates, periods
from iterative_rag.builtin.language.value_agreement import choose_label, compare_same, says_yes
from iterative_rag.builtin.question.plan import Operation
from iterative_rag.computing import ComputeError, evaluate
from iterative_rag.computing import Value as Computable
from iterative_rag.computing.arithmetic import compare
from iterative_rag.computing.operands import Amount, half_up, said, written
from iterative_rag.text import units
from iterative_rag.text.dates import Date

# What `computing` does not write with a number: no unit, a currency, a share.
_UNMEASURED = frozenset({"", "money", "share"})
_REVERSED = ", but the other way round"


@dataclass(frozen=True, slots=True)
class OperationResult:
    """The result of an operation as text; for arithmetic and comparisons also the expression and its result."""

    text: str
    expression: str = ""
    result: str = ""


def compute(
    operation: Operation, values: Sequence[str], labels: Sequence[str], unit: str, trusts: Sequence[float]
) -> OperationResult | None:
    """Compute an operation; None if the values do not allow it.

    `trusts` (one for each value, 0 to 1) break ties between two sides with the same answer.
    """
    match operation:
        case Operation.YEARS:
            return _years(values, unit)
        case Operation.DIFFERENCE:
            return _difference(values, unit)
        case Operation.LEAST | Operation.GREATEST:
            return _extreme(values, labels, least=operation is Operation.LEAST)
        case Operation.JOIN:
            return OperationResult(" ".join(values))
        case Operation.SAME:
            verdict = compare_same(values, unit)
            return None if verdict is None else OperationResult(verdict)
        case Operation.BOTH:
            return OperationResult("Yes" if all(map(says_yes, values)) else "No")
        case Operation.CHOICE:
            return OperationResult(choose_label(values, labels, trusts))


# --- with `computing` --------------------------------------------------------------------------


def _evaluate(expression: str) -> Computable | None:
    """Evaluate an expression; None if it has no value."""
    try:
        return evaluate(expression)
    except ComputeError:
        return None


def _amount(value: Computable | None) -> Fraction | None:
    return value.value if isinstance(value, Amount) else None


def date_of(text: str) -> Date | None:
    days = dates(text)
    return days[0][0] if days else None


@dataclass(frozen=True, slots=True)
class _Operand:
    """A number to compute with; `unit` under its name in `text.units`, `spelled` as the text writes it."""

    value: float
    unit: str = ""
    spelled: str = ""


def _operand(text: str, unit: str = "") -> _Operand | None:
    """The number in a value: the first in `unit` or a unit of the same dimension, else the first of all."""
    operands = [
        _Operand(amount.value, amount.unit, _spelled(text[start:end], amount.unit))
        for amount, start, end in amounts(text)
    ]
    fitting = [operand for operand in operands if unit and units.convert(operand.value, operand.unit, unit) is not None]
    return next(iter(fitting or operands), None)


def _spelled(amount: str, unit: str) -> str:
    """The unit at the end of an amount; of "5 ft 3 in", which is one amount in feet, "feet"."""
    endings = (amount[letter.start() :] for letter in re.finditer(r"[^\W\d_]|°", amount))
    return next((ending for ending in endings if units.unit_of(ending) == unit), units.plural(unit) if unit else "")


def _literals(numbers: Sequence[_Operand]) -> list[str]:
    """The numbers as literals of an expression, with units if all have the same dimension."""
    dimensions = {units.dimension(number.unit) for number in numbers}
    measured = len(dimensions) == 1 and not dimensions & _UNMEASURED
    return [f"{written(Fraction(number.value))} {number.spelled if measured else ''}".rstrip() for number in numbers]


def _years(values: Sequence[str], unit: str) -> OperationResult | None:
    days = dates(values[0])[:3] if unit == "span" else [day for value in values for day in dates(value)[:1]]
    if len(days) != 2:
        return None
    (first, *_), (second, *_) = days
    aged = unit == "age"
    if aged and second < first:
        return None  # nobody has an age before the birth
    if aged and first.month and second.month:
        expression = f"years({first}, {second})"
    elif min(first.year, second.year) < 1:
        expression = f"years({first.cut(1)}, {second.cut(1)})"
    elif aged:
        expression = f"{second.year} - {first.year}"
    else:
        expression = f"{max(first.year, second.year)} - {min(first.year, second.year)}"
    years = _amount(_evaluate(expression))
    if years is None or not (years or aged):
        return None
    text = written(years)
    turned = _REVERSED if unit == "later" and second < first else ""
    return OperationResult(text if aged else f"{text} {'year' if text == '1' else 'years'}{turned}", expression, text)


def _difference(values: Sequence[str], unit: str) -> OperationResult | None:
    asked = units.unit_of(unit)
    operands = [operand for operand in (_operand(value, asked) for value in values) if operand is not None]
    if len(operands) < len(values):
        return None
    turned = _REVERSED if (_order(_literals(operands)) or 0) < 0 else ""
    if turned:
        operands.reverse()
    literals = _literals(operands)
    expression = " - ".join(literals)
    if asked and " " in literals[0] and operands[0].unit != asked:
        expression = f"{expression} to {unit.lower()}"
    value = _evaluate(expression)
    amount = _amount(value)
    if value is None or not amount:
        return None
    rounded = written(half_up(amount * 100) / Fraction(100))
    result = said(value)
    return OperationResult(f"{rounded} {unit or result.partition(' ')[2]}".strip() + turned, expression, result)


# --- comparisons -----------------------------------------------------------------------------------


def _comparable(values: Sequence[str]) -> list[str] | None:
    """The values as literals of an expression if all are dates or all are numbers; None otherwise."""
    days = [day for day in map(date_of, values) if day is not None]
    if len(days) == len(values):
        one_decade = len({day.year // 10 for day in days}) == 1
        return None if one_decade and any(map(periods, values)) else [str(day) for day in days]
    operands = [operand for operand in map(_operand, values) if operand is not None]
    return _literals(operands) if len(operands) == len(values) else None


def _order(literals: Sequence[str]) -> int | None:
    """Compare two literals: -1, 0 or 1; None if they are not comparable, or a date is too imprecise to decide."""
    first, second = map(_evaluate, literals)
    try:
        return None if first is None or second is None else compare(first, second)
    except ComputeError:
        return None


def _comparison(first: str, second: str, order: int) -> tuple[str, str]:
    """The comparison as expression and result ("1825 < 1912", "true"); empty if the values do not decide it."""
    expression = f"{first} {'<=>'[order + 1]} {second}"
    return (expression, "true") if _evaluate(expression) is True else ("", "")


def _extreme(values: Sequence[str], labels: Sequence[str], *, least: bool) -> OperationResult | None:
    """The label of the smallest or greatest of two; a third label is for a value that equals or lies in a given one."""
    literals = _comparable(values)
    if not literals or len(labels) < len(literals):
        return None
    given = date_of(literals[1]) if labels[2:] else None
    if given and (found := date_of(literals[0])):
        literals[0] = str(found.cut(given.precision))
        if found.precision < given.precision and given.cut(found.precision) == found:
            return None
    order = _order(literals)
    if order is None or not (order or labels[2:]):
        return None
    best = int(order == (1 if least else -1))
    shown = _comparison(literals[best], literals[1 - best], -order if best else order)
    return OperationResult(labels[best] if order else labels[2], *shown)
