"""CSV and TSV: a Markdown table under the file's header; a long one becomes several documents of bounded size."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import NotText, encoding_of
from iterative_rag.sources.formats.format import Format, Reading, plain, shown
from iterative_rag.sources.formats.table_part import TablePart, table_documents, table_line
from iterative_rag.sources.formats.text import title_of

MAX_BYTES = 512 * 1024 * 1024
MAX_CELL_CHARS = 1_000_000
_LINE_CHARS = 4_000_000
_SAMPLE_CHARS = 16_000
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[-+(]?[\d.,:/%$€£ -]*\d[\d.,:/%$€£) -]*")


def read(path: Path) -> Reading:
    source = shown(path)
    with path.open("rb") as file:
        encoding = encoding_of(file)
        if isinstance(encoding, NotText):
            yield Skipped(source, encoding.reason)
            return
        items = _parts(_BoundedLines(file, encoding), source, path.suffix.lower())
        yield from table_documents(items, source, title_of(path))


def _parts(lines: _BoundedLines, source: str, suffix: str) -> Iterator[TablePart | Skipped]:
    sample = lines.sample()
    csv.field_size_limit(MAX_CELL_CHARS)
    # Not strict: a stray quote is common, and a letter like others.
    rows = (row for row in csv.reader(lines, _dialect(sample, suffix), strict=False) if any(map(str.strip, row)))
    part: TablePart | None = None
    fault = ""
    try:
        for row in rows:
            cells = [plain(cell) for cell in row]
            if part is None:
                header = _has_header(sample, row)
                part = TablePart(cells if header else [""] * len(row), 1)
                if header:
                    continue
            part = yield from part.with_line(table_line(cells))
    except (csv.Error, UnicodeDecodeError, _TooLong) as error:
        fault = f"It cannot be read beyond row {part.next - 1 if part else 0}: {_why(error)}."
    if part is None:
        yield Skipped(source, fault or "It is empty.", empty=not fault)
        return
    if part.lines or not fault:
        yield part
    if fault:
        yield Skipped(source, fault)


class _TooLong(Exception):
    """A line is longer than the limit."""


class _BoundedLines:
    """The lines of a file as text, each within the limit. Taking a sample does not consume them."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding=encoding, errors="strict", newline="")
        self._head = ""

    def sample(self) -> str:
        """The first lines, whole where they are not too long."""
        self._head = self._text.read(_SAMPLE_CHARS)
        return self._head if len(self._head) < _SAMPLE_CHARS else self._head[: self._head.rfind("\n") + 1 or None]

    def __iter__(self) -> Iterator[str]:
        *whole, rest = self._head.splitlines(keepends=True) or [""]
        yield from whole
        if line := rest + ("" if rest.endswith("\n") else self._text.readline(_LINE_CHARS)):
            yield line
        while line := self._text.readline(_LINE_CHARS):
            if len(line) >= _LINE_CHARS:
                raise _TooLong
            yield line


def _dialect(sample: str, suffix: str) -> type[csv.Dialect] | csv.Dialect:
    if suffix == ".tsv":
        return csv.excel_tab
    try:
        dialect = csv.Sniffer().sniff(sample, _DELIMITERS)
    except csv.Error:  # one column, or too little to tell by
        return csv.excel
    dialect.doublequote = True  # the csv module misses it where the sample has no doubled quote
    return dialect


def _has_header(sample: str, first: Sequence[str]) -> bool:
    """Whether the first row names the columns.

    The csv module tells by types and lengths, which a table of names does not have: there, a first row of different
    texts that are not numbers is taken for a header.
    """
    try:
        if csv.Sniffer().has_header(sample):
            return True
    except csv.Error:
        pass
    cells = [cell.strip() for cell in first]
    return len(set(cells)) == len(cells) and all(cell and not _NUMBER.fullmatch(cell) for cell in cells)


def _why(error: Exception) -> str:
    if isinstance(error, _TooLong):
        return f"a line is longer than {_LINE_CHARS:,} characters"
    if isinstance(error, UnicodeDecodeError):
        return f"it is not {codecs.lookup(error.encoding).name} there"
    if "field larger" in str(error):
        return f"a cell holds more than {MAX_CELL_CHARS:,} characters"
    return str(error)


FORMAT = Format(read, MAX_BYTES, many=True)
