"""How a number and its noun are written: the one place that knows singular and plural."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 window`, `1,200 windows`; `plural` where an "s" does not make it: "entries", "pages were"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
