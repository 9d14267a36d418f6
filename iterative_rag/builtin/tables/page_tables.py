"""Finds the tables, infoboxes and bulleted lists in a page's Markdown: rows of cells that know where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from iterative_rag.text.markdown_rows import ENTRY_SIGN, RowCell, is_row, is_rule, row_cells
from iterative_rag.text.patterns import lazy_pattern


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

    def column(self, index: int) -> tuple[str, ...]:
        """The cells of a column, top down."""
        return tuple(row.cells[index].text for row in self.rows)


# Longer paragraphs before a table are prose, not its caption.
LONGEST_CAPTION = 160
# Fewer entries are no list of anything.
FEWEST_ENTRIES = 3
OMISSION = "[...]"
_IN_PART = lazy_pattern(r"\b(?:selected|notable|incomplete|partial|examples?|main|major)\b", re.IGNORECASE)
_ENTRY = lazy_pattern(ENTRY_SIGN)
# Where the name of an entry ends: "Old Bridge (1872), stone" and "Old Bridge: a bridge of stone".
_NAME_ENDS = lazy_pattern(r"(?=\s\()|\s+[–—-]\s+|:\s+|,\s+|;\s+")


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def tables(text: str, title: str) -> tuple[PageTable, ...]:
    """The tables of a text, in order. A table beside an omission may lack rows."""
    page_tables: list[PageTable] = []
    section = caption = before = ""
    run: list[_Line] = []
    for line in [*_lines(text), _Line("", len(text))]:
        if run and not (is_row(line.text) if is_row(run[0].text) else _ENTRY.match(line.text)):
            table = _table(run, title, section, caption)
            cut = OMISSION in (before, line.text.strip()) or _IN_PART.search(f"{section} {caption}") is not None
            if table is not None:
                _add(page_tables, replace(table, complete=table.complete and not cut), omitted=before == OMISSION)
            run, before, caption = [], "", ""
        bare = line.text.strip()
        if is_row(line.text) or _ENTRY.match(line.text):
            run.append(line)
        elif bare.startswith("#"):
            section, caption = bare.strip("# "), ""
            before = ""
        elif bare:
            before, caption = bare, bare.strip("*") if len(bare) <= LONGEST_CAPTION and bare != OMISSION else ""
    return tuple(page_tables)


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(line, start)
        start += len(line) + 1


def _add(page_tables: list[PageTable], table: PageTable, *, omitted: bool) -> None:
    """Append a table, or its rows to the header that stands before an omission."""
    last = page_tables[-1] if page_tables else None
    headless = table.kind is not TableKind.LIST and not any(table.header)
    if omitted and headless and last and last.kind is TableKind.TABLE and len(last.header) == len(table.header):
        page_tables[-1] = replace(last, rows=(*last.rows, *table.rows), complete=False, end=table.end)
    elif table.rows or any(table.header):
        page_tables.append(table)


def _table(run: list[_Line], title: str, section: str, caption: str) -> PageTable | None:
    if not is_row(run[0].text):
        return _list(run, title, section, caption) if len(run) >= FEWEST_ENTRIES else None
    ruled = len(run) > 1 and is_rule(run[1].text)
    first = [cell.text.strip("*") for cell in row_cells(run[0].text)]
    body = [(line, row_cells(line.text)) for line in (run[2:] if ruled else run) if not is_rule(line.text)]
    infobox = all(len(cells) == 2 for _, cells in body) and len(first) == 2 and (not ruled or not first[1])
    width = max([len(first), *(len(cells) for _, cells in body)])
    header = tuple((first if ruled else [])[:width]) + ("",) * (width - (len(first) if ruled else 0))
    rows = tuple(_row(line, cells, width) for line, cells in body if any(cell.text for cell in cells))
    kind = TableKind.INFOBOX if infobox else TableKind.TABLE
    return PageTable(kind, title, section, caption, header, rows, ruled, run[0].start, run[-1].end)


def _row(line: _Line, cells: tuple[RowCell, ...], width: int) -> TableRow:
    begin = len(line.text) - len(line.text.lstrip())
    placed = [TableCell(cell.text.strip("*"), line.start + cell.start, line.start + cell.end) for cell in cells[:width]]
    placed += [TableCell("", line.end, line.end)] * (width - len(placed))
    return TableRow(tuple(placed), line.text.strip(), line.start + begin, line.start + len(line.text.rstrip()))


def _list(run: list[_Line], title: str, section: str, caption: str) -> PageTable:
    """A list as a table of two columns: the name of an entry under the section's heading, and the rest of it."""
    rows = []
    for line in run:
        bullet = _ENTRY.match(line.text)
        start, stop = bullet.end() if bullet else 0, len(line.text.rstrip())
        ending = _NAME_ENDS.search(line.text, start)
        middle, rest = (ending.start(), ending.end()) if ending else (stop, stop)
        cells = [
            TableCell(re.sub(r"\*\*|__", "", line.text[a:b]).strip(), line.start + a, line.start + b)
            for a, b in ((start, middle), (rest, stop))
        ]
        rows.append(TableRow(tuple(cells), line.text.strip(), line.start, line.start + stop))
    return PageTable(
        TableKind.LIST, title, section, caption, (section or title, ""), tuple(rows), True, run[0].start, run[-1].end
    )
