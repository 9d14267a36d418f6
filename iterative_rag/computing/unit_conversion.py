"""The units of expressions: their names, and exact conversion by pint."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from iterative_rag.errors import ComputeError
from iterative_rag.text import units
from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import registry

# What the name of a unit may look like. Pint would evaluate a whole formula, so it is never given one.
_NAME = lazy_pattern(r"(?P<name>[A-Za-zµΩ°][A-Za-z°]{0,39})(?![A-Za-z°])(?P<power>[²³]|\s*\^\s*[23](?!\d))?")
_PER = lazy_pattern(r"\s*/\s*(?=[A-Za-zµ°])|\s*\bper\b\s*")
# Short symbols are left to pint, which tells mW from MW; longer names are looked up in `text.units` first.
_SHORTEST_NAME = 3
_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and the name by which the expression calls it. `offset` says that its zero is not that of its dimension
    (degrees Celsius): such values can be neither added nor divided."""

    name: str
    pint: Any
    offset: bool = False

    @property
    def calendar(self) -> str:
        """The unit as the calendar counts it: "year", "month", "week", "day" ..."""
        return str(self.pint).removeprefix("calendar_")


def unit_at(text: str, start: int) -> tuple[Unit, int]:
    """The unit that is written at `start` and the place after it: "ft", "km/h", "m^2", "square miles". Raises
    ComputeError for any other word."""
    unit, end = _single_at(text, start)
    if per := _PER.match(text, end):
        below, end = _single_at(text, per.end())
        unit = _combined(" ".join(text[start:end].split()), unit, unit.pint / below.pint, below)
    return unit, end


def _single_at(text: str, start: int) -> tuple[Unit, int]:
    words = text[start : start + _LONGEST_NAME]
    named = units.unit_at(folded_in_place(words), 0, "en")
    if named is not None and " " in words[: named.end]:  # "square miles", "degrees C"
        known = registry().parse_units(named.units[0])
        return Unit(words[: named.end], known, _is_offset(known)), start + named.end
    match = _NAME.match(text, start)
    if match is None:
        raise ComputeError(f"{text[start : start + 30] or 'the end'!r} is not a unit")
    unit = _unit(match["name"])
    if match["power"]:
        power = 2 if match["power"][-1] in "²2" else 3
        unit = _combined(" ".join(match[0].split()), unit, unit.pint**power)
    return unit, match.end()


def _combined(name: str, unit: Unit, known: Any, below: Unit | None = None) -> Unit:
    if unit.offset or (below and below.offset):
        raise ComputeError("temperatures in °C or °F cannot be multiplied; convert them to kelvin")
    return Unit(name, known)


@lru_cache(maxsize=4096)
def _unit(name: str) -> Unit:
    from pint.errors import PintError

    table = units.unit_of(name)
    own = table if len(name) >= _SHORTEST_NAME or "°" in name else name
    for spelled in dict.fromkeys((own or name, name, name.lower(), table)):
        if not spelled or units.dimension(spelled) == "money":
            continue
        try:
            known = registry().parse_units(spelled)
        except (PintError, AttributeError, ValueError):  # what pint raises for a word depends on the word
            continue
        return Unit(name, known, _is_offset(known))
    raise ComputeError(f"{name!r} is not a unit or a function; leave out words, and put text in quotes")


def _is_offset(known: Any) -> bool:
    base = registry().get_base_units(known)[1]
    return converted(Fraction(0), Unit("", known), Unit("", base)) != 0


def converted(value: Fraction, have: Unit, want: Unit) -> Fraction:
    """`value` of one unit in another. Raises ComputeError if they have different dimensions."""
    from pint.errors import PintError

    try:
        scale, shift = units.affine(have.pint, want.pint)
    except PintError:  # its own text cannot be written where a power is exact
        raise ComputeError(f"{have.name} and {want.name} do not measure the same thing") from None
    except (TypeError, ValueError) as error:  # decibels and their like: no fraction has a logarithm
        raise ComputeError(f"{have.name} cannot be converted exactly") from error
    return value * scale + shift


def difference_unit(unit: Unit) -> Unit:
    """The unit of a difference: 20 °C minus 15 °C is an interval of 5 °C, which is not a temperature."""
    return Unit(unit.name, registry().parse_units(f"delta_{unit.pint}")) if unit.offset else unit
