"""How a text is laid out: the parts of an answer (headings, paragraphs, entries of a list, tables), and the paragraphs
of a text whose lines were broken to fit a page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from iterative_rag.text.control_characters import one_line
from iterative_rag.text.markdown_rows import is_row, is_rule, row_cells
from iterative_rag.text.markup import plain
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentences

# A line that was broken to fit a page is at least this long; shorter ones are headings, verses and entries.
_WRAPPED_CHARS = 45
_ENTRY = lazy_pattern(r"\s*(?:[-*+•–▪◦‣|#]|\d{1,3}[.)]\s)")


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


def first_sentence(text: str) -> str:
    """The sentence with which the prose of a text begins, without markup; "" where there is none."""
    said = (block.text for block in text_blocks(text) if isinstance(block, TextParagraph))
    return next((sentences(paragraph)[0] for paragraph in said), "")


def unwrapped(text: str) -> str:
    """The text, as long as before, with a space for each line break that only fits it to a page: where the first word
    of the next line had no room in a line as wide as most."""
    lines = text.split("\n")
    long = sorted(size for line in lines if (size := len(line)) >= _WRAPPED_CHARS)
    if not long:
        return text
    width = 0.9 * long[int(0.8 * (len(long) - 1))]
    parts = [lines[0]]
    for before, line in pairwise(lines):
        room = len(before) + 1 + len(line.split(" ", 1)[0])
        goes_on = len(before) >= _WRAPPED_CHARS and (room > width or line[:1].islower()) and not _ENTRY.match(line)
        parts += (" " if goes_on and line.strip() else "\n"), line
    return "".join(parts)
