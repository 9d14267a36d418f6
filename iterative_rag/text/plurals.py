"""A number with its noun in the singular or plural."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str = "") -> str:
    """`1 window`, `1,200 windows`; give `plural` where adding "s" is not enough: "entries", "pages were"."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"
