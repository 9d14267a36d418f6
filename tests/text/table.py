"""The table of texts and what they mean, for every test that reads values."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from iterative_rag.text.values import Mention, Moment, Period, Quantity, Span, Value


class Row(NamedTuple):
    """A text, the code of its language ("" where it is not known), its kind, and the values in it as they are shown."""

    text: str
    code: str
    kind: str
    meaning: str


def rows() -> list[Row]:
    tables = tomllib.loads((Path(__file__).parent / "values.toml").read_text(encoding="utf-8"))
    return [
        Row(text, "" if code == "unknown" else code, kind, meaning)
        for code, kinds in tables.items()
        for kind, texts in kinds.items()
        for text, meaning in texts.items()
    ]


def shown(mention: Mention) -> str:
    """The likeliest meaning of a value, as the table writes it."""
    return shown_value(mention.readings[0])


def shown_value(value: Value) -> str:
    match value:
        case Quantity(bound=bound, about=about, ordinal=ordinal, unit=unit):
            number = f"{value.value:.6f}".rstrip("0").rstrip(".")
            return (
                f"{bound}{'~' if about else ''}{number}{_ending(int(value.value)) if ordinal else ''} {unit}".rstrip()
            )
        case Moment(date=date, bound=bound, about=about):
            return f"{bound}{'~' if about else ''}{date}"
        case Period(first=first, last=last):
            count = last // 100 if last > 0 else 1 - last // 100
            century = f"{count}{_ending(count)} century{'' if last > 0 else ' BC'}"
            return f"{first}s" if last - first == 9 else century
        case Span(low=low, high=high):
            return f"{shown_value(low)} to {shown_value(high)}"


def _ending(rank: int) -> str:
    return "th" if rank % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(rank % 10, "th")
