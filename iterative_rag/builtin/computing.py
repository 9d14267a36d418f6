"""What is computed from looked-up values: differences, years between, comparisons, names out of parts."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.builtin.plan import Operation
from iterative_rag.builtin.quantities import Date, Number, convert, dates, numbers, plain
from iterative_rag.builtin.words import words


def folded(text: str) -> str:
    """For comparing values: words only."""
    return " ".join(word for word in words(text) if word != "the")


def compute(operation: Operation, values: Sequence[str], labels: Sequence[str], unit: str) -> str | None:
    """The result in words; None where the values cannot be computed with."""
    match operation:
        case Operation.JOIN:
            return " ".join(values)
        case Operation.YEARS:
            return _years(values, unit)
        case Operation.DIFFERENCE | Operation.SUM:
            return _arithmetic(operation, values, unit)
        case Operation.LEAST | Operation.GREATEST:
            return _compared(operation, values, labels)
        case Operation.EXCEEDS:
            side = Operation.LEAST if unit == "least" else Operation.GREATEST
            winner = _compared(side, values, ["first", "second"])
            return winner and ("Yes" if winner == "first" else "No")
        case Operation.SAME:
            return _same(values)


def date_of(text: str) -> Date | None:
    found = dates(text)
    return found[0][0] if found else None


def number_of(text: str, unit: str = "") -> float | None:
    """The number of a value, in `unit` where it says another one of the same dimension."""
    found = [number for number, _, _ in numbers(text)]
    if not found:
        return None
    if unit:
        for number in found:
            converted = convert(number, unit)
            if converted is not None:
                return converted
    return found[0].value


def _years(values: Sequence[str], unit: str) -> str | None:
    first, second = date_of(values[0]), date_of(values[1])
    if first is None or second is None:
        return None
    if unit:
        years = second.years_since(first)
        return str(years) if unit == "age" else f"{years} years"
    return f"{abs(second.year - first.year)} years"


def _arithmetic(operation: Operation, values: Sequence[str], unit: str) -> str | None:
    found = [number_of(value, unit) for value in values]
    if any(value is None for value in found):
        return None
    present = [value for value in found if value is not None]
    result = sum(present) if operation is Operation.SUM else abs(present[0] - present[1])
    return f"{plain(round(result, 2))} {unit}".strip()


def _compared(operation: Operation, values: Sequence[str], labels: Sequence[str]) -> str | None:
    ordered: list[tuple[Date | float, str]] = []
    days = [date_of(value) for value in values]
    amounts = [number_of(value) for value in values]
    if all(day is not None for day in days):
        ordered = [(day, label) for day, label in zip(days, labels, strict=True) if day is not None]
    elif all(amount is not None for amount in amounts):
        ordered = [(_measured(value), label) for value, label in zip(values, labels, strict=True)]
    else:
        return None
    pick = min if operation is Operation.LEAST else max
    return pick(ordered, key=lambda item: item[0])[1]


def _measured(text: str) -> float:
    """A number in its dimension's first unit, so that feet and metres compare."""
    number = next((number for number, _, _ in numbers(text)), Number(0.0))
    for base in ("m", "seconds", "days", "kg", "k"):
        converted = convert(number, base)
        if converted is not None:
            return converted
    return number.value


def _same(values: Sequence[str]) -> str:
    """Equal words, or a country and its adjective: "Westmark" and "Westmarkian" share their beginning."""
    first, second = (set(words(value)) - {"the"} for value in values[:2])
    near = any(a[:4] == b[:4] for a in first for b in second if len(a) > 3 and len(b) > 3)
    return "Yes" if first and second and (first <= second or second <= first or near) else "No"
