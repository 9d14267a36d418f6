"""The parts of an answer that is a text: headings, paragraphs, entries of a list, and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markdown_rows import is_row, is_rule, row_cells
from iterative_rag.text.markup import plain


@dataclass(frozen=True, slots=True)
class TextHeading:
    text: str


@dataclass(frozen=True, slots=True)
class TextParagraph:
    """`entry`: it is one of a list."""

    text: str
    entry: bool = False


@dataclass(frozen=True, slots=True)
class TextTable:
    """The first row is the header, the first column names the rows; all rows are of one length."""

    rows: tuple[tuple[str, ...], ...]


TextBlock = TextHeading | TextParagraph | TextTable


def text_blocks(text: str) -> Iterator[TextBlock]:
    """The parts in order, without markup and safe to show on one line each."""
    rows: list[tuple[str, ...]] = []
    for line in [*text.splitlines(), ""]:
        bare = line.strip()
        if is_row(bare):
            if not is_rule(bare):
                rows.append(tuple(one_line(plain(cell.text)) for cell in row_cells(bare)))
            continue
        if rows:
            width = len(rows[0])
            yield TextTable(tuple((*row, *[""] * (width - len(row)))[:width] for row in rows))
            rows = []
        said = one_line(plain(bare))
        if said:
            yield TextHeading(said) if bare.startswith("#") else TextParagraph(said, bare.startswith("- "))
