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
WORD = lazy_pattern(r"[A-Za-zµΩ°][A-Za-z°]*")
_NAME = lazy_pattern(r"[A-Za-zµΩ°_]{1,40}")
# Short symbols are left to pint, which tells mW from MW; longer names are looked up in `text.units` first.
_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit and the name by which the expression calls it. `offset` says that its zero is not that of its dimension
    (degrees Celsius): such values can be neither added nor divided."""

    name: str
    pint: Any
    offset: bool = False

    @property
    def calendar(self) -> str:
        """The calendar unit ("year", "month", "week", "day" ...) that can be added to a date; "" if it is none."""
        name = str(self.pint).removeprefix("calendar_")
        return name if name in {"year", "month", "week", "day", "decade", "century"} else ""


@lru_cache(maxsize=4096)
def unit(name: str) -> Unit:
    """The unit of a plain name ("ft", "miles", "°C"). Raises ComputeError for any other word."""
    from pint.errors import PintError

    if not _NAME.fullmatch(name):
        raise ComputeError(f"{name[:40]!r} is not a unit")
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


def unit_of_words(text: str) -> Unit | None:
    """The unit with which a text begins, if its name has several words: "square miles", "degrees C", "light years"."""
    name = units.unit_at(folded_in_place(text), 0, "en")
    if name is None or " " not in text[: name.end]:
        return None
    known = registry().parse_units(name.units[0])
    return Unit(text[: name.end], known, _is_offset(known))


def combined(name: str, first: Unit, second: Unit | None = None, power: int = 1) -> Unit:
    """`first` to a power, or divided by `second`, under the name by which the expression calls it: "m²", "km/h"."""
    if first.offset or (second is not None and second.offset):
        raise ComputeError("temperatures in °C or °F cannot be multiplied; convert them to kelvin")
    return Unit(name, first.pint**power if second is None else first.pint / second.pint)


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


def difference_unit(measure: Unit) -> Unit:
    """The unit of a difference: 20 °C minus 15 °C is an interval of 5 °C, which is not a temperature."""
    if not measure.offset:
        return measure
    return Unit(measure.name, registry().parse_units(f"delta_{measure.pint}"))


def _is_offset(known: Any) -> bool:
    base = registry().get_base_units(known)[1]
    return converted(Fraction(0), Unit("", known), Unit("", base)) != 0
