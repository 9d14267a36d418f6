"""Excel workbooks by openpyxl: each sheet is a Markdown table under its header."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Format, Reading, plain, shown
from iterative_rag.sources.formats.records import in_words
from iterative_rag.sources.formats.table_part import in_parts, table_documents
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, MAX_UNPACKED_BYTES, zip_fault
from iterative_rag.types import Document

MAX_COLUMNS = 500
_KIND = "an Excel workbook"


def read(path: Path) -> Reading:
    source = shown(path)
    if fault := zip_fault(path, _KIND, ".xls", MAX_UNPACKED_BYTES):
        yield Skipped(source, fault)
        return
    found = False
    try:
        for item in _sheets(path, source):
            found = True
            yield item
    except (KeyError, ValueError, AttributeError, TypeError, IndexError, SyntaxError, zipfile.BadZipFile) as error:
        # What openpyxl and the XML parser raise for parts that are missing or malformed.
        yield Skipped(source, f"It is not {_KIND}, or damaged ({type(error).__name__}).")
        return
    if not found:
        yield Skipped(source, "It holds no table.", empty=True)


def _sheets(path: Path, source: str) -> Iterator[Document | Skipped]:
    from openpyxl import load_workbook

    # Values as they were last computed: formulas are not evaluated, macros and links not even read.
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        for number, sheet in enumerate(sheets, 1):
            sheet.reset_dimensions()  # what a file says of its size may be wrong
            title = title_of(path) if len(sheets) == 1 else f"{title_of(path)}: {' '.join(plain(sheet.title).split())}"
            for item in _tables(sheet.iter_rows(max_col=MAX_COLUMNS, values_only=True), source, title):
                yield _numbered(item, number) if isinstance(item, Document) else item
    finally:
        book.close()


def _tables(rows: Iterable[Sequence[Any]], source: str, title: str) -> Iterator[Document | Skipped]:
    """The rows as a table. Single cells above the header are its caption, and left out."""
    filled = (cells for row in rows if any(cells := _cells(row)))
    above: list[list[str]] = []
    for cells in filled:
        if sum(map(bool, cells)) > 1:
            yield from table_documents(in_parts(cells, filled), source, title)
            return
        above.append(cells)
    if above:  # a list in one column
        head, *rest = ([next(filter(None, cells))] for cells in above)
        yield from table_documents(in_parts(head, rest), source, title)


def _cells(row: Sequence[Any]) -> list[str]:
    cells = [_shown(value) for value in row]
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _shown(value: Any) -> str:
    match value:
        case None | bool():
            return in_words(value)
        case float():
            return f"{value:.15g}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime() | date() | time():
            return value.isoformat(*((" ", "minutes") if isinstance(value, datetime) else ()))
    return plain(str(value)).strip()


def _numbered(document: Document, sheet: int) -> Document:
    """With an id of its own within the workbook."""
    return replace(document, id=f"sheet {sheet} {document.id}".strip())


FORMAT = Format(read, MAX_BYTES, needs=("openpyxl",), many=True)
