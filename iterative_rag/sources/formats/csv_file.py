"""CSV and TSV: a Markdown table under the file's header; a long one becomes several documents of bounded size."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.cells import TablePart, table_documents, table_line
from iterative_rag.sources.formats.format import Format, Reading, plain, shown, title_of

MAX_BYTES = 64 * 1024 * 1024
MAX_CELL_CHARS = 1_000_000
_SAMPLE_CHARS = 16_000
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_DELIMITERS = ",;\t|"
_NUMBER = re.compile(r"[-+(]?[\d.,:/%$€£ -]*\d[\d.,:/%$€£) -]*")


def read(path: Path) -> Reading:
    source = shown(path)
    parts = _parts(decode(path.read_bytes()), source, path.suffix.lower())
    yield from table_documents(parts, source, title_of(path))


def _parts(text: str, source: str, suffix: str) -> Iterator[TablePart | Skipped]:
    sample = text[: text.rfind("\n", 0, _SAMPLE_CHARS) + 1 or _SAMPLE_CHARS]
    csv.field_size_limit(MAX_CELL_CHARS)
    lines = (line[0] for line in _LINE.finditer(text))
    # Not strict: a stray quote is common, and a letter like others.
    rows = (row for row in csv.reader(lines, _dialect(sample, suffix), strict=False) if any(map(str.strip, row)))
    part: TablePart | None = None
    fault = ""
    try:
        for row in rows:
            cells = [plain(cell) for cell in row]
            if part is None:
                header = _is_header(row)
                part = TablePart(cells if header else [""] * len(row), 1)
                if header:
                    continue
            part = yield from part.with_line(table_line(cells))
    except csv.Error as error:
        why = f"a cell holds more than {MAX_CELL_CHARS:,} characters" if "field larger" in str(error) else str(error)
        fault = f"It cannot be read beyond row {part.next - 1 if part else 0}: {why}."
    if part is not None and (part.lines or not fault):
        yield part
    if part is None or fault:
        yield Skipped(source, fault or "It is empty.", empty=not fault)


def _dialect(sample: str, suffix: str) -> type[csv.Dialect] | csv.Dialect:
    if suffix == ".tsv":
        return csv.excel_tab
    try:
        dialect = csv.Sniffer().sniff(sample, _DELIMITERS)
    except csv.Error:  # one column, or too little to tell by
        return csv.excel
    dialect.doublequote = True  # the csv module misses it where the sample has no doubled quote
    return dialect


def _is_header(first: Sequence[str]) -> bool:
    """Whether the first row names the columns: different texts, none of which is a number."""
    cells = [cell.strip() for cell in first]
    return len(set(cells)) == len(cells) and all(cell and not _NUMBER.fullmatch(cell) for cell in cells)


FORMAT = Format(read, MAX_BYTES, many=True)
