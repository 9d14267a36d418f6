"""Tables, infoboxes and lists of a page as rows of cells that know where they stand."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TableKind(StrEnum):
    TABLE = "table"
    INFOBOX = "infobox"  # rows of a label and a value
    LIST = "list"  # bulleted entries: a name, and what follows it


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell; `start` and `end` are its offsets in the page's text, "" stands for a cell that a short row lacks."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row with as many cells as its table has columns; `text` is its line, verbatim, and may be quoted."""

    cells: tuple[TableCell, ...]
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table of the article `title`. `section` is the heading above it, `caption` the line before it.

    `header` has a name for each column, "" where there is none. `complete` says that no row is known to be missing:
    only then may rows be counted, ranked or summed. `start` is the offset of its first line, `end` that after its last.
    """

    kind: TableKind
    title: str
    section: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[TableRow, ...]
    complete: bool
    start: int
    end: int

    @property
    def context(self) -> str:
        """What the table is about, in words."""
        return f"{self.title} {self.section} {self.caption}"

    def column(self, place: int) -> tuple[str, ...]:
        """The cells of a column, top down."""
        return tuple(row.cells[place].text for row in self.rows)
