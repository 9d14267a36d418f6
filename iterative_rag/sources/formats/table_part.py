"""Rows of cells as Markdown tables; a long table of a file becomes several documents, each with the header."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
        elif held is None:
            held = item
        else:
            alone = False
            yield held.document(source, title, alone=False)
            held = item
    if held is not None:
        yield held.document(source, title, alone=alone)
