"""A window taken apart into what can be quoted: sentences, infobox rows and table rows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.builtin.tables.table_model import PageTable, TableKind, TableRow
from iterative_rag.builtin.tables.table_parsing import OMISSION, tables
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.text.markup import without_struck
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentence_ends
from iterative_rag.types import Window

LONGEST_SENTENCE, SHORTEST_ROW = 1000, 4
_BRACKET = lazy_pattern(r"\s*\([^)]*\)$")


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
    """A page in units; `tables` are its tables and lists as a whole."""

    title: str
    units: tuple[PageUnit, ...]
    text: str
    tables: tuple[PageTable, ...] = ()

    @property
    def bare_title(self) -> str:
        """ "Ann Lee" of "Ann Lee (captain)"."""
        return _BRACKET.sub("", self.title)


@lru_cache(maxsize=256)
def page(window: Window) -> UnitPage:
    """The window's units in order, without struck text."""
    text = without_struck(window.text)
    found = tables(text, window.title)
    rows = {
        row.start: _row(table, row, number)
        for number, table in enumerate(found)
        if table.kind is not TableKind.LIST
        for row in table.rows
    }
    units: list[PageUnit] = []
    section, start = "", 0
    for line in text.split("\n"):
        bare, first = line.strip(), start + len(line) - len(line.lstrip())
        start += len(line) + 1
        if is_row(bare):
            if first in rows and len(bare) >= SHORTEST_ROW:
                units.append(rows[first])
        elif bare.startswith("#"):
            section = bare.lstrip("# ")
        elif bare and bare != OMISSION:
            units += [PageUnit(sentence, section) for sentence in sentences(bare)]
    return UnitPage(window.title, tuple(units), text, found)


def _row(table: PageTable, row: TableRow, number: int) -> PageUnit:
    infobox = table.kind is TableKind.INFOBOX
    header = table.header if any(table.header) and not infobox else ()
    return PageUnit(row.text, table.section, tuple(cell.text for cell in row.cells), header, infobox, number)


def sentences(paragraph: str) -> list[str]:
    """Verbatim sentences that are long enough to say something, and not so long that they are none."""
    places = [0, *sentence_ends(paragraph), len(paragraph)]
    pieces = (paragraph[start:end].strip() for start, end in itertools.pairwise(places))
    return [piece for piece in pieces if 3 < len(piece) <= LONGEST_SENTENCE]
