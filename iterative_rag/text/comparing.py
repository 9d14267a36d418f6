"""The one definition of when two values are the same, and of the tolerance; and when two words are the same name."""

from __future__ import annotations

from functools import lru_cache

from iterative_rag.text import units
from iterative_rag.text.values import Mention, Moment, Period, Quantity, Span, Value

# Endings that a name may take: "Einsteins", "Brenks". "Vienne" is not "Vien" with an ending.
_ENDINGS = ("s", "es", "en", "n", "ens", "ns")
_SHORTEST_STEM = 4


@lru_cache(maxsize=65536)
def same_name(word: str, other: str) -> bool:
    """Whether two folded words are the same name, apart from endings."""
    if word == other:
        return True
    short, long = sorted((word, other), key=len)
    if short and "\u0370" <= short[0] <= "\u052f":  # Greek and Cyrillic names are inflected
        shared = shared_beginning(word, other)
        return shared >= 3 and len(word) - shared <= 2 and len(other) - shared <= 2
    return len(short) >= _SHORTEST_STEM and long.startswith(short) and long[len(short) :] in _ENDINGS


def shared_beginning(word: str, other: str) -> int:
    """The length of the common prefix of two words."""
    return next((n for n, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))


# Tolerances: relative, for a value that is visibly rounded or was converted from another unit; relative, for one that
# the text calls approximate; and in years, for an approximate year.
ROUNDED, ABOUT, ABOUT_YEARS = 0.01, 0.06, 5


def says(claimed: Value, given: Value) -> bool:
    """Whether `given` implies `claimed`; it may be more exact: "3 March 1874" implies "1874", but not the reverse."""
    match claimed, given:
        case Quantity(), Quantity():
            plain = given if claimed.ordinal else claimed  # "12th" and a bare "12" may be one rank; 12 years are none
            same_rank = claimed.ordinal == given.ordinal or not (plain.unit or plain.step)
            return same_rank and same_number(claimed, given)
        case Moment(), Moment():
            (year, *day), (given_year, *given_day) = claimed.parts, given.parts
            if year is not None and given_year is not None and claimed.about and not claimed.date.month:
                return abs(year - given_year) <= ABOUT_YEARS
            return year in (None, given_year) and all(a in (0, b) for a, b in zip(day, given_day, strict=True))
        case Period(), Period():
            return claimed.first <= given.first and given.last <= claimed.last
        case Period(), Moment():
            year = given.parts[0]
            return year is not None and claimed.first <= year <= claimed.last
        case Span(), Span():
            return says(claimed.low, given.low) and says(claimed.high, given.high)
    return False


def same_number(claimed: Quantity, given: Quantity) -> bool:
    """Whether the numbers agree in one unit, to the precision of the claimed one. A number without a unit agrees with
    one in any unit; a count of things never agrees with a measure."""
    if claimed.unit and given.unit and claimed.unit != given.unit:
        return _converts(claimed, given)
    if (claimed.unit and not given.unit and given.counted) or (given.unit and not claimed.unit and claimed.counted):
        return False
    off = abs(claimed.value - given.value)
    if off <= 1e-9 * abs(claimed.value) or (off <= claimed.step / 2 and _near(claimed.value, given.value, ROUNDED)):
        return True
    return (claimed.about or given.about) and _near(claimed.value, given.value, ABOUT)


def _converts(claimed: Quantity, given: Quantity) -> bool:
    """Whether the given value is the claimed one in another unit, to the precision of both."""
    value = units.convert(given.value, given.unit, claimed.unit)
    if value is None:
        return False
    if claimed.about or given.about:
        return _near(claimed.value, value, ABOUT)
    upper = units.convert(given.value + _written_step(given), given.unit, claimed.unit)
    off = (_written_step(claimed) + abs((upper or value) - value)) / 2
    return abs(claimed.value - value) <= off * (1 + 1e-9) and _near(claimed.value, value, ROUNDED)


def _written_step(quantity: Quantity) -> float:
    """The place value of the last significant digit: 0.1 for 5.1, 100 for 4,800, 1 for 37."""
    if quantity.step or quantity.value != int(quantity.value) or not quantity.value:
        return quantity.step
    digits = str(abs(int(quantity.value)))
    return 10.0 ** (len(digits) - len(digits.rstrip("0")))


def _near(value: float, other: float, share: float) -> bool:
    return abs(value - other) <= share * abs(other)


def stands_in(claimed: Mention, given: Mention) -> bool:
    """Whether one value implies another in any of their readings."""
    return any(says(mine, theirs) for mine in claimed.readings for theirs in given.readings)


def excludes(mention: Mention, other: Mention) -> bool:
    """Whether two values of the same thing contradict each other: neither implies the other, even when rounded."""
    return not any(_may_agree(mine, theirs) for mine in mention.readings for theirs in other.readings)


def _may_agree(value: Value, other: Value) -> bool:
    if says(value, other) or says(other, value):
        return True
    match value, other:
        case Quantity(), Quantity():
            measured = value.unit and other.unit and units.dimension(value.unit) != units.dimension(other.unit)
            return bool(measured) or _is_rounded(value, other) or _is_rounded(other, value)
        case Moment(), Moment():
            return all(not a or not b or a == b for a, b in zip(value.parts, other.parts, strict=True))
        case Span(), _:
            return _may_agree(value.low, other) or _may_agree(value.high, other)
        case _, Span():
            return _may_agree(other, value)
    return False


def _is_rounded(rough: Quantity, exact: Quantity) -> bool:
    """Whether a number with trailing zeros is the other one rounded: 12,000 and 12,412."""
    value = units.convert(exact.value, exact.unit, rough.unit) if rough.unit and exact.unit else exact.value
    if value is None or rough.value != int(rough.value) or abs(rough.value) < 1000:
        return False
    step = _written_step(rough)
    return step >= 100 and abs(value - rough.value) <= step / 2
