"""The kinds of questions, and labelled spans of their words."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN, SINGLE, NESTED, COMPARISON, INTERSECTION = range(-1, 4)
KINDS = ("single", "nested", "comparison", "intersection")
PHRASE, CLAUSE, PART = range(3)
LABELS = ("phrase", "clause", "part")


@dataclass(frozen=True, slots=True)
class Mark:
    """A labelled stretch of a question, offsets in characters: a phrase, a clause, or a part of a comparison."""

    start: int
    end: int
    label: int
