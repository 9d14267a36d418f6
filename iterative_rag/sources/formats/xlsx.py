"""Excel workbooks by openpyxl: the tables of each sheet as Markdown, with their captions, merged cells filled in."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import office_xml
from iterative_rag.sources.formats.cells import TablePart, as_shown, table_documents, table_line
from iterative_rag.sources.formats.format import MAX_ARCHIVE_BYTES, Reading, archive_format, plain, title_of
from iterative_rag.sources.html_marks import raised
from iterative_rag.sources.metadata import not_read
from iterative_rag.types import Document

MAX_COLUMNS = 500
MAX_FILLED = 2_000_000  # characters that filling in merged cells may add to a sheet
_NO_VALUE = re.compile(rb"(?:</f>|<f\b[^>]*/>)(?:<v ?/>|<v></v>)?</c>")
# Merged cells stand behind the rows of a sheet, which must not all be held in memory.
_MERGED = re.compile(rb'<(?:\w+:)?mergeCell\b[^>]*\bref="([A-Z]+\d+:[A-Z]+\d+)"')
_BLOCK, _OVERLAP = 1 << 20, 1 << 10


@dataclass(slots=True)
class _Row:
    """`alone`: one cell fills it. `words`: no number is in it. `spans`: a cell of it covers several columns."""

    cells: list[str]
    alone: bool = False
    words: bool = True
    spans: bool = False

    @property
    def filled(self) -> int:
        return sum(map(bool, self.cells))


def _sheets(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    from openpyxl import load_workbook

    # Values as they were last computed: formulas are not evaluated, macros and links not even read.
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False, rich_text=True)
    empty = True
    try:
        main = office_xml.main_part(archive)
        parts = office_xml.relations(archive, main)
        listed = list(office_xml.within(office_xml.tree(archive, main), "sheet"))
        visible = [entry for entry in listed if entry.get("state", "visible") == "visible"]
        kinds = Counter({"hidden sheets": len(listed) - len(visible)})
        for number, entry in enumerate(visible, 1):
            name = entry.get("name", "")
            title = title_of(path) if len(visible) == 1 else f"{title_of(path)}: {' '.join(plain(name).split())}"
            sheet = _Sheet(archive, parts[office_xml.relation_id(entry)][1])
            rows = sheet.rows(book[name]) if hasattr(book[name], "iter_rows") else ()  # else it is a chart
            for item in table_documents(_tables(rows, sheet.texts), source, title):
                empty = False
                if isinstance(item, Document):  # with an id of its own within the workbook
                    metadata = (*not_read(kinds + sheet.kinds), *item.metadata)
                    item = replace(item, id=f"sheet {number} {item.id}".strip(), metadata=metadata)
                yield item
                kinds, sheet.kinds = Counter(), Counter()
    finally:
        book.close()
    if empty:
        yield Skipped(source, f"It holds no table{' but on hidden sheets' * any(kinds.values())}.", empty=True)


# --- the rows of a sheet -----------------------------------------------------------------------


class _Sheet:
    """A sheet: its rows, and what its parts tell besides."""

    def __init__(self, archive: zipfile.ZipFile, part: str) -> None:
        self._archive, self._part = archive, part
        self._styles: dict[int, tuple[str, bool]] = {}  # number format, and whether it is struck
        self.kinds: Counter[str] = Counter()
        self.texts: list[str] = []  # boxes and charts
        for kind, drawing in office_xml.relations(archive, part).values():
            if kind == "drawing":
                shapes = office_xml.tree(archive, drawing)
                for box in office_xml.within(shapes, "txBody"):
                    self.texts.append(" ".join(text.text or "" for text in office_xml.within(box, "t")).strip())
                told = office_xml.drawn(shapes, office_xml.opener(archive, drawing), self.kinds)
                for (title, *names), *rows in told:
                    lines = list(map(table_line, rows))
                    self.texts.append(TablePart([title, *names], 1, lines).text if rows else title)

    def _scan(self) -> dict[int, set[tuple[int, int, int]]]:
        """The merged cells by their first row: first column, last row and column. Counts formulas without a value."""
        from openpyxl.utils.cell import range_boundaries

        merged: dict[int, set[tuple[int, int, int]]] = {}
        data = b""
        with self._archive.open(self._part) as file:
            while block := file.read(_BLOCK):
                self.kinds["formulas without a value"] += len(_NO_VALUE.findall(block))
                data = data[-_OVERLAP:] + block
                for match in _MERGED.finditer(data):
                    left, top, right, bottom = range_boundaries(match[1].decode())
                    merged.setdefault(top, set()).add((left, bottom, min(right, MAX_COLUMNS)))
        return merged

    def rows(self, sheet: Any) -> Iterator[_Row]:
        """All rows of a sheet, with merged cells filled in."""
        merged = self._scan()
        covered: dict[int, tuple[int, str]] = {}  # column -> the last row that a merged cell covers, and its text
        room = MAX_FILLED
        sheet.reset_dimensions()  # which some programs state wrongly
        for number, row in enumerate(sheet.iter_rows(max_col=MAX_COLUMNS), 1):
            cells = [self._text(cell) for cell in row]
            read = _Row(cells, words=all(cell.data_type not in "nbd" for cell in row if cell.value is not None))
            own = sum(map(bool, cells))
            for left, bottom, right in merged.get(number, ()):
                text = cells[left - 1] if left <= len(cells) else ""
                read.spans |= right > left
                covered.update((column, (bottom, text)) for column in range(left, right + 1))
            for column in [*covered] if own else ():
                bottom, text = covered[column]
                cells += [""] * (column - len(cells))
                if not cells[column - 1] and room > 0:
                    cells[column - 1] = text
                    room -= len(text)
                if bottom <= number:
                    del covered[column]
            read.alone = own == 1 and len({*filter(None, cells)}) == 1
            while cells and not cells[-1]:
                cells.pop()
            yield read

    def _text(self, cell: Any) -> str:
        value = cell.value
        if value is None:
            return ""
        if cell._style_id not in self._styles:  # slow to look up
            self._styles[cell._style_id] = cell.number_format, bool(cell.font.strike)
        code, struck = self._styles[cell._style_id]
        text = plain(_joined(value) if isinstance(value, list) else as_shown(value, code)).strip()
        return f"~~{text}~~" if text and struck else text


def _joined(pieces: list[Any]) -> str:
    text = ""
    for piece in pieces:
        font, words = getattr(piece, "font", None), str(piece)
        if font is not None and font.vertAlign == "superscript":
            words = raised(words, text)
        text += f"~~{words}~~" if font is not None and font.strike and words.strip() else words
    return text


# --- the tables among the rows -----------------------------------------------------------------


def _tables(rows: Iterable[_Row], texts: list[str]) -> Iterator[TablePart]:
    """The tables of a sheet, short ones together, each below its caption; then notes and `texts`."""
    part: TablePart | None = None
    lines: list[str] = []  # rows of one cell: captions, notes, or names of groups of rows
    gap = numbers = spans = False  # whether a row was left free; numbers are in the table; the header goes on
    for row in rows:
        if not row.cells:
            gap = True
            continue
        if row.alone and row.words and (part is None or gap):
            lines.append(next(filter(None, row.cells)))
        elif part is None or ((gap or lines) and row.words and (numbers or row.filled != sum(map(bool, part.head)))):
            if part is not None and part.is_half_full:
                yield part
                part = TablePart([], part.next)
            part = (part or TablePart([], 1)).followed(lines, row.cells)
            lines, gap, numbers, spans = [], False, False, row.spans
        elif spans and (row.words or row.cells[0] in ("", part.head[0])):
            pairs = zip_longest(part.head, row.cells, fillvalue="")
            part.head = [" / ".join(dict.fromkeys(filter(None, pair))) for pair in pairs]
            spans = row.spans
        else:
            cells = [next(filter(None, row.cells))] if row.alone and row.filled > 1 else row.cells
            for shown_cells in (*([line] for line in lines), cells):
                filled = [*shown_cells, *[""] * (len(part.head) - len(shown_cells))]
                part = yield from part.with_line(table_line(filled))
            lines, gap, numbers, spans = [], False, numbers or not row.words, False
    if below := [*lines, *texts]:
        part = (part or TablePart([], 1)).followed(below, [])
    if part is not None:
        yield part


FORMAT = archive_format("an Excel workbook", ".xls", MAX_ARCHIVE_BYTES, _sheets, needs=("openpyxl", "lxml"), many=True)
