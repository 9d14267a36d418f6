"""What is computed from looked-up values: differences, years between, comparisons, names out of parts."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence

from iterative_rag.builtin.language.classes import counts_as
from iterative_rag.builtin.language.nations import country_of, nations_in
from iterative_rag.builtin.language.quantities import Date, Number, convert, dates, numbers, plain
from iterative_rag.builtin.language.words import MONTHS, folded, stem, word_set, words
from iterative_rag.builtin.question.plan import Operation

_PLAIN_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")


def compute(
    operation: Operation, values: Sequence[str], labels: Sequence[str], unit: str, trusts: Sequence[float] = ()
) -> str | None:
    """The result in words; None where the values cannot be computed with. `trusts` (one a value, 0 to 1) tell which of
    two sides that say the same says it more surely."""
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
            return _same(values, unit)
        case Operation.COMMON:
            return values[0] if all(agree(values[0], value) for value in values[1:]) else None
        case Operation.PICK:
            return _picked(values[0], labels)
        case Operation.BOTH | Operation.EITHER:
            says = [_says_yes(value) for value in values]
            return "Yes" if (all(says) if operation is Operation.BOTH else any(says)) else "No"
        case Operation.CHOICE:
            return _chosen(values, labels, trusts, wanted=unit != "no")
        case Operation.SHARED:
            return _shared(values)
        case Operation.RICHEST:
            lengths = [len(_listed(value)) for value in values]
            return labels[lengths.index(max(lengths))] if len(labels) == len(lengths) else None
        case Operation.DECADE | Operation.CENTURY | Operation.MONTH | Operation.WEEKDAY:
            return _of_calendar(operation, values[0])


def agree(first: str, second: str) -> bool:
    """Whether two values may name the same: all words of one stand in the other, be it as another word for the same
    ("lead singer", "lead vocalist")."""
    one, other = ({stem(word) for word in words(value) if word != "the"} for value in (first, second))
    return bool(one) and bool(other) and (_covered(one, other) or _covered(other, one))


def _covered(one: set[str], other: set[str]) -> bool:
    return all(word in other or counts_as(word) & other for word in one)


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


def _same(values: Sequence[str], unit: str) -> str | None:
    """Equal words, one thing that both lists hold, or a country and its adjective. `unit` is "part" where parts of a
    country are compared: the country alone does not tell."""
    smaller = [_within_country(value) for value in values[:2]]
    nations = [{country_of(nation) for nation in nations_in(value)} for value in values[:2]]
    if unit == "part" and not all(smaller):
        return None
    if not all(smaller) and all(nations):
        return "Yes" if nations[0] & nations[1] else "No"
    if not all(smaller):
        smaller = list(values[:2])
    first, second = (set(words(value)) - {"the"} for value in smaller)
    listed = {folded(item) for item in _listed(smaller[0])} & {folded(item) for item in _listed(smaller[1])}
    near = any(_adjective_of(a, b) or _adjective_of(b, a) for a in first for b in second)
    return "Yes" if first and second and (first <= second or second <= first or near or listed) else "No"


def _within_country(value: str) -> str:
    """ "Lyon, France" as "Lyon"; "" for a country alone."""
    kept = []
    for part in value.split(","):
        there = nations_in(part)
        whole = there and all(country_of(nation) == nation for nation in there)
        said = [word for word in words(part) if word not in {"the", "of", "and"}]
        if not (whole and len(said) <= sum(len(nation.split("_")) for nation in there)):
            kept.append(part.strip())
    return ", ".join(part for part in kept if part)


_DEMONYM = re.compile(r"(?:i?an|n|ish|ese|i|ic|er|ean)$")


def _adjective_of(name: str, adjective: str) -> bool:
    """ "Westmark" and "Westmarkian"; not "Jiang" and "Jianan"."""
    stemmed = name.rstrip("aeiouy")
    rest = adjective.removeprefix(stemmed)
    return len(stemmed) > 3 and rest != adjective and (rest == "" or bool(_DEMONYM.fullmatch(rest)))


def _says_yes(value: str) -> bool:
    return value.lower().startswith("yes")


def _chosen(values: Sequence[str], labels: Sequence[str], trusts: Sequence[float], *, wanted: bool) -> str | None:
    """The label whose side says what is wanted; of two that say the same the surer yes, or the less sure no. Without
    trusts the first: who asks names first what the question is about."""
    if len(labels) != len(values) or not values:
        return None
    sure = [trust if len(trusts) == len(values) else 0.0 for trust in (trusts or [0.0] * len(values))]
    side = [(trust if _says_yes(value) == wanted else -trust) for value, trust in zip(values, sure, strict=True)]
    says = [_says_yes(value) == wanted for value in values]
    return labels[max(range(len(values)), key=lambda at: (says[at], side[at], -at))]


# Words that say nothing where two share them.
_HOLLOW = word_set("a an the of in and or by for from to with best known former who is was are as born one both also")
_PARTS = re.compile(r",\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+|\s*;\s*")


def _listed(value: str) -> list[str]:
    return [part for part in _PARTS.split(value) if part.strip()]


def _shared(values: Sequence[str]) -> str | None:
    """The words that two descriptions have in common, in the order of the first: a whole item of a list rather than
    single words, the longest stretch of them rather than the first."""
    stems = {stem(word) for word in words(values[1])}
    best: list[str] = []
    for part in _listed(values[0]):
        run: list[str] = []
        for word in [*_PLAIN_WORD.findall(part), ""]:
            if word and stem(folded(word) or word.lower()) in stems:
                run.append(word)
                continue
            while run and folded(run[0]) in _HOLLOW:
                run = run[1:]
            while run and folded(run[-1]) in _HOLLOW:
                run = run[:-1]
            best = run if len(run) > len(best) else best
            run = []
    return " ".join(best) or None
