"""What is computed from looked-up values: differences, years between, comparisons, names out of parts."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from iterative_rag.builtin.language.quantities import Date, Number, convert, dates, numbers, plain
from iterative_rag.builtin.language.words import MONTHS, words
from iterative_rag.builtin.question.plan import Operation


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
        case Operation.RATIO:
            first, second = _measured(values[0]), _measured(values[1])
            return plain(round(first / second, 2)) if numbers(values[0]) and second else None
        case Operation.LEAST | Operation.GREATEST:
            return _compared(operation, values, labels)
        case Operation.EXCEEDS:
            side = Operation.LEAST if unit == "least" else Operation.GREATEST
            winner = _compared(side, values, ["first", "second"])
            if winner and _compared(side, values[::-1], ["second", "first"]) != winner:
                return "No"  # a tie
            return winner and ("Yes" if winner == "first" else "No")
        case Operation.SAME:
            return _same(values)
        case Operation.COMMON:
            return values[0] if all(agree(values[0], value) for value in values[1:]) else None
        case Operation.PICK:
            return _picked(values[0], labels)
        case Operation.DECADE | Operation.CENTURY | Operation.MONTH | Operation.WEEKDAY:
            return _of_calendar(operation, values[0])


def agree(first: str, second: str) -> bool:
    """Whether two values may name the same: all words of one stand in the other."""
    one, other = ({word for word in words(value) if word != "the"} for value in (first, second))
    return bool(one) and bool(other) and (one <= other or other <= one)


def _picked(value: str, labels: Sequence[str]) -> str | None:
    said = set(words(value)) - {"the"}
    shared = [len(said & set(words(label))) for label in labels]
    best = max(shared, default=0)
    return labels[shared.index(best)] if best and shared.count(best) == 1 else None


def _of_calendar(operation: Operation, value: str) -> str | None:
    day = date_of(value)
    if day is None:
        return None
    if operation is Operation.DECADE:
        return f"{day.year // 10 * 10}s"
    if operation is Operation.CENTURY:
        number = (day.year - 1) // 100 + 1
        ending = "th" if number in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
        return f"{number}{ending} century"
    if not day.month:
        return None
    if operation is Operation.MONTH:
        return MONTHS[day.month - 1].capitalize()
    try:
        return f"{datetime.date(day.year, day.month, day.day):%A}" if day.day else None
    except ValueError:  # no such day in the calendar
        return None


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
