"""CSV and TSV: a Markdown table under the file's header; a long one becomes several documents of bounded size."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import NotText, encoding_of
from iterative_rag.sources.formats import markdown_table
from iterative_rag.sources.formats.format import Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.types import Document

MAX_BYTES = 512 * 1024 * 1024
MOST_ROWS = 2_000  # of one document
MOST_TABLE_CHARS = 500_000
MOST_CELL_CHARS = 1_000_000
_LINE_CHARS = 4_000_000
_SAMPLE_CHARS = 16_000
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[-+(]?[\d.,:/%$€£ -]*\d[\d.,:/%$€£) -]*")


@dataclass(slots=True)
class _Part:
    """Rows that become one document. `first` and `last` are their numbers, from 1, the header not counted."""

    first: int
    lines: list[str]
    size: int = 0

    @property
    def last(self) -> int:
        return self.first + len(self.lines) - 1


def read(path: Path) -> Reading:
    source = shown(path)
    with path.open("rb") as file:
        encoding = encoding_of(file)
        if isinstance(encoding, NotText):
            yield Skipped(source, encoding.reason)
            return
        lines = _BoundedLines(file, encoding)
        yield from _documents(lines, source, title_of(path), path.suffix.lower())


def _documents(lines: _BoundedLines, source: str, title: str, suffix: str) -> Reading:
    sample = lines.sample()
    dialect = _dialect(sample, suffix)
    csv.field_size_limit(MOST_CELL_CHARS)
    # Lenient, as files of this kind are: a stray quote is a letter.
    rows = (row for row in csv.reader(lines, dialect, strict=False) if any(cell.strip() for cell in row))
    head: list[str] | None = None
    fault = ""
    part = _Part(1, [])
    before: _Part | None = None
    number = 0
    try:
        for row in rows:
            if head is None:
                head = [plain(cell) for cell in row] if _has_header(sample, row) else [""] * len(row)
                if any(head):
                    continue
            line = markdown_table.line([plain(cell) for cell in row])
            if part.lines and (len(part.lines) >= MOST_ROWS or part.size + len(line) > _room(head)):
                if before is not None:
                    yield _document(before, head, source, title, alone=False)
                before, part = part, _Part(number + 1, [])
            number += 1
            part.lines.append(line)
            part.size += len(line) + 1
    except (csv.Error, UnicodeDecodeError, _TooLong) as error:
        fault = f"It cannot be read beyond row {number}: {_why(error)}."
    if head is None:
        yield Skipped(source, fault or "It is empty.", empty=not fault)
        return
    if before is not None:
        yield _document(before, head, source, title, alone=False)
    if part.lines or (before is None and not fault):
        yield _document(part, head, source, title, alone=before is None)
    if fault:
        yield Skipped(source, fault)


def _document(part: _Part, head: Sequence[str], source: str, title: str, *, alone: bool) -> Document:
    table = "\n".join([markdown_table.line(head), markdown_table.rule(len(head)), *part.lines])
    name = title if alone else f"{title} (rows {part.first}–{part.last})"
    return Document("" if part.first == 1 else str(part.first), name, f"# {name}\n\n{table}\n", source)


def _room(head: Sequence[str]) -> int:
    """Every part repeats the header: an endless one must not be most of what is written."""
    return max(MOST_TABLE_CHARS, 4 * sum(map(len, head)))


class _TooLong(Exception):
    """A line without an end."""


class _BoundedLines:
    """The lines of a file as text, none of them longer than a limit; the sample does not use them up."""

    def __init__(self, file: BinaryIO, encoding: str) -> None:
        self._text = io.TextIOWrapper(file, encoding=encoding, errors="strict", newline="")
        self._head = ""

    def sample(self) -> str:
        """Whole lines from the begin, where they are not endless."""
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
        found = csv.Sniffer().sniff(sample, _DELIMITERS)
    except csv.Error:  # one column, or nothing to tell by
        return csv.excel
    found.doublequote = True  # what the csv module cannot see where no quote is doubled in the sample
    return found


def _has_header(sample: str, first: Sequence[str]) -> bool:
    """Whether the first row names the columns.

    The csv module tells it by types and lengths, which a table of names has none of: there, a first row that could be
    a header is one.
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
        return f"a cell holds more than {MOST_CELL_CHARS:,} characters"
    return str(error)


FORMAT = Format((".csv", ".tsv"), MAX_BYTES, read, many=True)
