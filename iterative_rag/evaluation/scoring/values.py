"""Numbers, dates and ranges: compared by what they say and not by how they are written.

Strict where a wrong answer would pass: a number is no day of a month, a decade no year, "over 5" is not 5, 87 people
are not 87 years. What is less exact than the gold value is not the same; what is more exact is, where the gold value
is visibly rounded ("1.4 million", "5.1") or names fewer parts of the date.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from iterative_rag.builtin.language.quantities import Date, Number, convert

# How far off a more exact number may be from a rounded one, and a converted one (feet, metres) from its origin.
TOLERANCE = 0.01
# What goes on with a unit and makes it another one: "miles per hour" are no miles.
_ANOTHER_UNIT = ("per",)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number. `step` is the place to which it is rounded, 0 for an exact one; `form` is "", "ordinal" or "decade".

    `unit` are the words after it in a common spelling; `bound` is ">" for "more than" and the like.
    """

    value: float
    step: float = 0.0
    form: str = ""
    unit: tuple[str, ...] = ()
    bound: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A date; parts that are not said are 0, years before Christ negative. `bound` is ">" for "after"."""

    date: Date
    bound: str = ""


@dataclass(frozen=True, slots=True)
class Span:
    """From one to the other."""

    low: Quantity | Moment
    high: Quantity | Moment


Value: TypeAlias = Quantity | Moment | Span


def same(gold: Value, given: Value) -> bool:
    """Whether `given` says all that `gold` says."""
    match gold, given:
        case Quantity(), Quantity():
            return gold.bound == given.bound and _same_form(gold, given) and _same_number(gold, given)
        case Moment(), Moment():
            return gold.bound == given.bound and _same_date(gold.date, given.date)
        case Span(), Span():
            return same(gold.low, given.low) and same(gold.high, given.high)
    return False


def alike(gold: Value, given: Value) -> bool:
    """Whether `given` is of the kind of `gold`, so that a differing one would contradict it."""
    match gold, given:
        case Quantity(), Quantity():
            return _same_form(gold, given) and (_compatible(gold, given) or _converted(gold, given) is not None)
        case Moment(), Moment():
            return True
        case Span(), Span():
            return True
    return False


def _same_form(gold: Quantity, given: Quantity) -> bool:
    """ "12th" and a bare "12" may be the same rank; 12 years are no rank, and the 1980s are not 1980."""
    if gold.form == given.form:
        return True
    return "decade" not in (gold.form, given.form) and not gold.unit and not given.unit


def _same_number(gold: Quantity, given: Quantity) -> bool:
    if not _compatible(gold, given):
        value = _converted(gold, given)
        return value is not None and _near(gold.value, value)
    if gold.value == given.value or abs(gold.value - given.value) <= 1e-9 * abs(gold.value):
        return True
    return abs(gold.value - given.value) <= gold.step / 2 and _near(gold.value, given.value)


def _near(gold: float, given: float) -> bool:
    return abs(gold - given) <= TOLERANCE * abs(gold)


def _compatible(gold: Quantity, given: Quantity) -> bool:
    """One of them names no unit, or the given one begins with the gold one."""
    if not gold.unit or not given.unit:
        return True
    count = len(gold.unit)
    return given.unit[:count] == gold.unit and given.unit[count : count + 1] != _ANOTHER_UNIT


def _converted(gold: Quantity, given: Quantity) -> float | None:
    """The given value in the gold unit; None where the two do not measure the same."""
    if len(gold.unit) != 1 or not given.unit or given.unit[1:2] == _ANOTHER_UNIT:
        return None
    return convert(Number(given.value, given.unit[0]), gold.unit[0])


def _same_date(gold: Date, given: Date) -> bool:
    parts = ((gold.year, given.year), (gold.month, given.month), (gold.day, given.day))
    return all(wanted in (0, got) for wanted, got in parts)
