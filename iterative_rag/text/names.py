"""When two words are the same name."""

from __future__ import annotations

from functools import lru_cache

# Endings that a name may take: "Einsteins", "Brenks". "Vienne" is not "Vien" with an ending.
_ENDINGS = ("s", "es", "en", "n", "ens", "ns")
_SHORTEST_STEM = 4


@lru_cache(maxsize=65536)
def same_name(one: str, other: str) -> bool:
    """Whether two folded words are the same name, apart from endings."""
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if short and "\u0370" <= short[0] <= "\u052f":  # Greek and Cyrillic names are inflected
        shared = shared_beginning(one, other)
        return shared >= 3 and len(one) - shared <= 2 and len(other) - shared <= 2
    return len(short) >= _SHORTEST_STEM and long.startswith(short) and long[len(short) :] in _ENDINGS


def shared_beginning(one: str, other: str) -> int:
    """The length of the common prefix of two words."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
