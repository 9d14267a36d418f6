"""Units of measure: their names in each language, and exact conversion by pint."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

from iterative_rag.text.folding import folded_in_place
from iterative_rag.text.patterns import table_beside

if TYPE_CHECKING:  # imported late, when the first unit is converted: it takes half a second
    from pint import UnitRegistry

    Registry: TypeAlias = UnitRegistry[Any]

_LOCK = threading.Lock()


@cache
def _made() -> Registry:
    from pint import UnitRegistry

    registry: Registry = UnitRegistry(non_int_type=Fraction, cache_folder=None)
    registry.define("calendar_decade = 10 * year")  # pint's own decade is a ratio of ten
    return registry


def registry() -> Registry:
    """The shared registry; units of different registries cannot be compared."""
    with _LOCK:
        return _made()


@lru_cache(maxsize=4096)
def affine(have: Any, want: Any) -> tuple[Fraction, Fraction]:
    """(scale, shift) with `wanted = had * scale + shift`, between two pint units. Raises what pint raises."""
    zero, one = (Fraction(registry().convert(Fraction(n), have, want)) for n in (0, 1))
    return one - zero, zero


_tables = partial(table_beside, __file__, "units.toml")


@cache
def dimensions() -> Mapping[str, str]:
    """All known units, as `unit_at` names them, and what they measure: "length" for "foot"."""
    return {unit: dimension for dimension, units in _tables().items() for unit in units}


def dimension(unit: str) -> str:
    """What a unit measures; "" for anything else."""
    return dimensions().get(unit, "")


@cache
def _names(code: str) -> Mapping[str, tuple[str, ...]]:
    """The units that each name may stand for; symbols and English names are understood in every language."""
    names: dict[str, tuple[str, ...]] = {}
    for units in _tables().values():
        for unit, spelled in units.items():
            known = [words for key, words in spelled.items() if not code or key in {"symbols", "en", code}]
            for name in " ".join(known).split():
                plain = folded_in_place(name.replace("_", " "))
                names[plain] = (*names.get(plain, ()), *(() if unit in names.get(plain, ()) else (unit,)))
    return names


@lru_cache(maxsize=512)
def _pattern(code: str, letter: str) -> re.Pattern[str]:
    """The units that begin with a letter: all of them take 2 to 4 ms to compile."""
    names = sorted((name for name in _names(code) if name[0] == letter), key=len, reverse=True)
    spelled = "|".join(re.escape(name).replace(r"\ ", r"[\s-]+") for name in names) or "(?!)"
    return re.compile(rf"[\s-]{{0,2}}(?P<unit>{spelled})(?![\w²³^]|/[a-z])")


@dataclass(frozen=True, slots=True)
class UnitName:
    """The name of a unit that ends at `end`; `units` are the units that it may stand for ("pounds" has two)."""

    units: tuple[str, ...]
    end: int


def unit_at(plain: str, start: int, code: str) -> UnitName | None:
    """The unit whose name begins at `start`, after optional spaces and hyphens, in a text that was folded in place."""
    letter = next((sign for sign in plain[start : start + 3] if not sign.isspace() and sign != "-"), "")
    match = _pattern(code, letter).match(plain, start)
    if match is None:
        return None
    name = re.sub(r"[\s-]+", " ", match["unit"])
    units = _names(code).get(name) or _names(code).get(match["unit"]) or _names(code).get(name.replace(" ", "-"), ())
    return UnitName(units, match.end())


def unit_of(name: str, code: str = "en") -> str:
    """The unit of a name on its own ("feet"); "" for anything else."""
    plain = folded_in_place(name)
    unit = unit_at(plain, 0, code)
    return unit.units[0] if unit and unit.end == len(plain) else ""


@cache
def plural(unit: str) -> str:
    """The English name of a unit in the plural ("square miles"), or its symbol where it has no name."""
    spelled = _tables()[dimension(unit)][unit]
    known: list[str] = spelled["en"].split()[:2] if "en" in spelled else spelled["symbols"].split()[:1]
    return known[-1].replace("_", " ")


@lru_cache(maxsize=4096)
def convert(value: float, have: str, want: str) -> float | None:
    """A value of one unit in another, both named as `unit_at` does; None if their dimensions differ.

    Currencies are never converted.
    """
    if have == want:
        return value
    if dimension(have) != dimension(want) or dimension(have) in {"", "money"}:
        return None
    from pint.errors import PintError

    try:
        scale, shift = affine(registry().parse_units(have), registry().parse_units(want))
    except PintError:
        return None
    return float(Fraction(value) * scale + shift)
