"""Rows of cells as Markdown tables, of which a long one becomes several documents; and values as a spreadsheet shows
them: percent, currency, thousands, durations, leading zeros. (The maintained library for these, xlsx2html, brings a
database of all languages, of more than 30 MB.)"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from iterative_rag.protocols import Skipped
from iterative_rag.types import Document


def table_line(cells: Sequence[str]) -> str:
    """A row: each cell on one line, its bars escaped."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def table_text(head: Sequence[str], lines: Iterable[str]) -> str:
    """A table of a header and rows that are written already."""
    return "\n".join([table_line(head), "|" + "---|" * max(1, len(head)), *lines])


def table_of(rows: Sequence[Sequence[str]]) -> str:
    """Rows, of which the first is the header; "" for none."""
    return table_text(rows[0], map(table_line, rows[1:])) if rows else ""


MAX_ROWS = 2_000  # of one document
MAX_TABLE_CHARS = 500_000


@dataclass(slots=True)
class TablePart:
    """Lines of a table that become one document. `first` is the number of its first row, from 1 without the header.
    `above` is the text before the table: its caption, and whole tables of the same document."""

    head: list[str]
    first: int
    lines: list[str] = field(default_factory=list)
    above: str = ""
    rows: int = 0
    size: int = 0

    @property
    def next(self) -> int:
        """The number of the row after the last one."""
        return self.first + self.rows

    @property
    def is_half_full(self) -> bool:
        return self.rows > MAX_ROWS // 2 or self.size > MAX_TABLE_CHARS // 2

    def with_line(self, line: str) -> Generator[TablePart, None, TablePart]:
        """Yields this part where it is full; returns the one that took the line."""
        part = self
        # Every part repeats the header: a long one must not be most of what is written.
        room = max(MAX_TABLE_CHARS, 4 * sum(map(len, self.head)))
        if self.lines and (self.rows >= MAX_ROWS or self.size + len(line) > room):
            yield self
            part = TablePart(self.head, self.next)
        part.lines.append(line)
        part.rows += 1
        part.size += len(line) + 1
        return part

    @property
    def text(self) -> str:
        table = table_text(self.head, self.lines) if self.head else ""
        return "\n\n".join(filter(None, [self.above, table]))

    def followed(self, texts: Iterable[str], head: list[str]) -> TablePart:
        """The part in which texts and another table come behind this one."""
        above = "\n\n".join(filter(None, [self.text if self.lines or not self.head else "", *texts]))
        return TablePart(head, self.first, [], above, self.rows, len(above))

    def document(self, source: str, title: str, *, alone: bool) -> Document:
        name = title if alone else f"{title} (rows {self.first}–{self.next - 1})"
        document_id = "" if self.first == 1 else str(self.first)
        return Document(document_id, name, f"# {name}\n\n{self.text}\n", source)


def table_documents(items: Iterable[TablePart | Skipped], source: str, title: str) -> Iterator[Document | Skipped]:
    """The parts as documents, which are numbered by their rows where there are several."""
    held: TablePart | None = None
    alone = True
    for item in items:
        if isinstance(item, Skipped):
            yield item
            continue
        if held is not None:
            alone = False
            yield held.document(source, title, alone=False)
        held = item
    if held is not None:
        yield held.document(source, title, alone=alone)


# Text in quotes or after a backslash; a currency; other brackets, gaps and filling.
_PIECE = re.compile(r'"([^"]*)"|\\(.)|\[\$([^-\]]*)[^\]]*\]|\[[^\]]*\]|[_*].')
_PLACES = re.compile(r"[0#?][0#?,]*(?:\.[0#?]*)?,*")
_AS_IT_IS = re.compile(r"[0#?] */|E[+-]", re.IGNORECASE)  # fractions and powers of ten are shown as plain numbers


def as_shown(value: Any, code: str) -> str:
    """A value of a cell under its number format. Days are ISO dates, times of day HH:MM, durations H:MM."""
    match value:
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return number_as_shown(value, code)
        case timedelta():
            seconds = round(value.total_seconds())
            sign, seconds = "-" * (seconds < 0), abs(seconds)
            rest = f":{seconds % 60:02}" if "s" in code.lower() or seconds % 60 else ""
            return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}{rest}"
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(" ", "seconds" if value.second else "minutes")
        case time():
            return value.isoformat("seconds" if value.second else "minutes")
    return str(value)


def number_as_shown(value: float | str, code: str) -> str:
    """A number under a format such as `0.0%`; as it is without a format, and what is no number."""
    plain = f"{value:.15g}" if isinstance(value, float) else str(value)
    if code in ("", "General", "@"):
        return plain
    try:
        number = Decimal(plain)
    except ArithmeticError:
        return plain
    if not number.is_finite():
        return plain
    sections = code.split(";")
    at = 2 if number == 0 and len(sections) > 2 else int(number < 0 and len(sections) > 1)
    section = _PIECE.sub(lambda piece: "".join(filter(None, piece.groups())), sections[at])
    places = _PLACES.search(section)
    if _AS_IT_IS.search(section):
        return plain
    if places is None:
        return section.replace("General", plain).strip() or plain  # a format may hide its number
    number = (abs(number) if at == 1 else number).scaleb(2 * section.count("%"))
    digits = _as_digits(number, places[0])
    minus = "-" if number < 0 and re.search("[1-9]", digits) else ""
    return f"{minus}{section[: places.start()]}{digits}{section[places.end() :]}".strip()


def _as_digits(number: Decimal, places: str) -> str:
    """The digits of a number, rounded to its places; those behind a comma at the end are left out by the thousand."""
    core = places.rstrip(",")
    whole, _, part = core.partition(".")
    number = abs(number).scaleb(-3 * (len(places) - len(core))).quantize(Decimal(1).scaleb(-len(part)), ROUND_HALF_UP)
    digits, _, decimals = f"{number:{',' if ',' in whole else ''}f}".partition(".")
    least = len(part.rstrip("#?"))
    decimals = decimals[:least] + decimals[least:].rstrip("0")
    zeros = whole.count("0")
    digits = digits.zfill(zeros) if zeros or digits != "0" else ""
    return f"{digits}.{decimals}" if decimals else digits
