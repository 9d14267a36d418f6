"""A window taken apart into what can be quoted: sentences, infobox rows and table rows."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentence_ends
from iterative_rag.types import Window

_RULE = lazy_pattern(r"^\|(?:\s*:?-{2,}:?\s*\|)+\s*$")
LONGEST_SENTENCE = 1000


@dataclass(frozen=True, slots=True)
class PageUnit:
    """One quotable piece. `cells` and `header` are set for rows; an infobox row is a label and a value."""

    text: str
    section: str
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    infobox: bool = False
    table: int = -1


@dataclass(frozen=True, slots=True)
class UnitPage:
    title: str
    units: tuple[PageUnit, ...]
    text: str


@lru_cache(maxsize=256)
def page(window: Window) -> UnitPage:
    """The window's units in order."""
    units: list[PageUnit] = []
    section, rows, tables = "", [], 0
    for line in [*window.text.split("\n"), ""]:
        bare = line.strip()
        if bare.startswith("|") and bare.endswith("|") and len(bare) > 1:
            rows.append(bare)
            continue
        if rows:
            units += _table(rows, section, tables)
            rows, tables = [], tables + 1
        if bare.startswith("#"):
            section = bare.lstrip("# ")
        elif bare and bare != "[...]":
            units += [PageUnit(sentence, section) for sentence in sentences(bare)]
    return UnitPage(window.title, tuple(units), window.text)


def sentences(paragraph: str) -> list[str]:
    """Verbatim sentences that are long enough to say something, and not so long that they are none."""
    places = [0, *sentence_ends(paragraph), len(paragraph)]
    pieces = (paragraph[start:end].strip() for start, end in itertools.pairwise(places))
    return [piece for piece in pieces if 3 < len(piece) <= LONGEST_SENTENCE]


def _table(rows: list[str], section: str, number: int) -> list[PageUnit]:
    """Rows of one table. Two columns without a name for the second, or under the title, are an infobox."""
    cells = [_cells(row) for row in rows]
    ruled = len(rows) > 1 and _RULE.match(rows[1]) is not None
    header = cells[0] if ruled else ()
    body = [(row, parts) for row, parts in zip(rows, cells, strict=True) if not _RULE.match(row)][1 if ruled else 0 :]
    infobox = all(len(parts) == 2 for parts in cells) and (not ruled or len(header) < 2 or not header[1])
    return [
        PageUnit(row, section, parts, () if infobox else header, infobox, number)
        for row, parts in body
        if any(parts) and len(row) >= 4
    ]


def _cells(row: str) -> tuple[str, ...]:
    inner = row.strip()[1:-1]
    return tuple(cell.replace("\\|", "|").strip().strip("*") for cell in re.split(r"(?<!\\)\|", inner))
