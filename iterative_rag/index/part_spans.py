"""The spans of a text that are within a part of it: sections by their headings, rows of tables by a column."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import translate

from iterative_rag.retrieval.article_parts import Table, sections, tables
from iterative_rag.retrieval.chunking import Heading, headings
from iterative_rag.retrieval.spans import Span, merged
from iterative_rag.text.markdown_rows import row_cells

# A run of blanks in a text that is left out is broken into lines of this many characters.
_BLANK_LINE = 200
# Shorter gaps stay on the line before them: a table of which some rows are left out is still one table.
_SHORT_GAP = 4_000


@dataclass(frozen=True, slots=True)
class PartSpans:
    """`own` are the spans that are meant, `context` what they are read with: headings above them, headers of tables."""

    own: tuple[Span, ...]
    context: tuple[Span, ...] = field(default=())

    def touches(self, start: int, end: int) -> bool:
        """Whether anything of `text[start:end]` is meant."""
        return any(low < end and start < high for low, high in self.own)


TextTest = Callable[[str], PartSpans]


def pattern(text: str) -> re.Pattern[str]:
    """Finds `text` anywhere, or with `*` and `?` matches it as a pattern of the whole; case does not matter."""
    if "*" in text or "?" in text:
        return re.compile(rf"\A{translate(text)}", re.IGNORECASE)
    return re.compile(re.escape(text), re.IGNORECASE)


def equals(wanted: str, value: str) -> bool:
    """Whether a value is the one that is wanted, or matches it as a pattern; case does not matter."""
    value = " ".join(value.split())
    if "*" in wanted or "?" in wanted:
        return pattern(wanted).search(value) is not None
    return " ".join(wanted.split()).casefold() == value.casefold()


def in_section(name: str, title: str) -> TextTest:
    """The sections with this in their heading, with those below them. The heading that is the title is none."""
    named = pattern(" ".join(name.split()))
    words = [word.casefold() for word in re.split(r"[\s*?]+", name) if word]

    def spans(text: str) -> PartSpans:
        folded = text.casefold()
        if not all(word in folded for word in words):  # a heading stands in the text
            return PartSpans(())
        inner = [section for section in sections(text) if section.heading.casefold() != title.casefold()]
        own = merged(
            (section.start, section.end) for section in inner if named.search(" ".join(section.heading.split()))
        )
        return PartSpans(own)

    return spans


def with_value(column: str, value: str) -> TextTest:
    """The rows of tables that have this value in the column of this name."""

    def spans(text: str) -> PartSpans:
        own: list[Span] = []
        context: list[Span] = []
        for table in tables(text):
            index = _column(text, table, column)
            if index is None:
                continue
            rows = [row for row in table.rows if _has(text[slice(*row)], index, value)]
            own += rows
            context += table.header if rows else ()
        return PartSpans(tuple(own), tuple(context))

    return spans


def within_all(text: str, tests: Sequence[TextTest]) -> PartSpans:
    """What all tests mean, with the headings above it."""
    parts = [test(text) for test in tests]
    own = merged(parts[0].own)
    for other in parts[1:]:
        own = _common(own, merged(other.own))
    context = [span for part in parts for span in part.context]
    return PartSpans(own, merged([*context, *_headings_above(text, own)])) if own else PartSpans(())


def blanked(text: str, kept: Sequence[Span]) -> str:
    """The text with blanks for all that lies outside of `kept`, so that every offset stays what it was."""
    pieces: list[str] = []
    at = 0
    for start, end in (*merged(kept), (len(text), len(text))):
        pieces += [_blank(text[at:start]), text[start:end]]
        at = end
    return "".join(pieces)


def _blank(gap: str) -> str:
    size = len(gap)
    if not size:
        return ""
    if size < _SHORT_GAP:
        # The newline that ends the line before stays, or the last one of the gap.
        return " " * (size - 1) + ("\n" if "\n" in gap else " ")
    lines = (" " * (_BLANK_LINE - 1) + "\n") * (size // _BLANK_LINE + 1)
    return lines[: size - 1] + "\n"


def _column(text: str, table: Table, name: str) -> int | None:
    if not table.header:
        return None
    cells = [" ".join(cell.text.split()).casefold() for cell in row_cells(text[slice(*table.header[0])])]
    wanted = " ".join(name.split()).casefold()
    return cells.index(wanted) if wanted in cells else None


def _has(row: str, index: int, value: str) -> bool:
    cells = row_cells(row)
    return index < len(cells) and equals(value, cells[index].text)


def _common(spans: Sequence[Span], other: Sequence[Span]) -> tuple[Span, ...]:
    """What is in both, each of which is in order: a table may have thousands of rows in either."""
    both: list[Span] = []
    first = second = 0
    while first < len(spans) and second < len(other):
        start, end = max(spans[first][0], other[second][0]), min(spans[first][1], other[second][1])
        if start < end:
            both.append((start, end))
        if spans[first][1] < other[second][1]:
            first += 1
        else:
            second += 1
    return merged(both)


def _headings_above(text: str, spans: Sequence[Span]) -> list[Span]:
    lines: list[Span] = []
    path: list[Heading] = []
    left = list(reversed(spans))
    for heading in [*headings(text, 0, len(text)), Heading(len(text), len(text), 0)]:
        while left and left[-1][0] < heading.start:
            lines += [(above.start, above.end) for above in path]
            left.pop()
        path = [above for above in path if above.level < heading.level] + [heading]
    return lines
