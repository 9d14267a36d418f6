"""What is read of a document in one call: all of a short one, else the parts around its best hits; tables whole."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentence_ends
from iterative_rag.types import Document, ShortlistedDocument, Window

GAP = "\n[...]\n"
# Characters read before and after a hit, so that a pronoun is read with the name it stands for.
MARGIN = 400
# A table with a hit is read whole up to this many windows: a question for the third tallest needs every row.
TABLE_WINDOWS = 3

_RULE = lazy_pattern(r"\|[ :|-]*-[ :|-]*")

Span = tuple[int, int]


def window(document: Document, entry: ShortlistedDocument, size: int) -> Window:
    """About `size` characters of a shortlisted document, plus the whole table of its best hit."""
    length = len(document.text)
    spans = [(0, length)] if length <= size else _around(entry, document.text, size)
    text = GAP.join(document.text[start:end] for start, end in spans)
    return Window(document.id, document.title, document.source, tuple(spans), text)


def _around(entry: ShortlistedDocument, text: str, size: int) -> list[Span]:
    """Spans around the hits, taken best first until `size` is used up; merged where they touch, in document order."""
    spans: list[Span] = []
    for hit in entry.hits:
        table = _table_at(text, hit.start, hit.end)
        room = size - _chars(spans) if spans else TABLE_WINDOWS * size
        if table and table[1] - table[0] <= room:
            if not spans:
                size += table[1] - table[0]  # the other hits keep their room
            own = [_whole_sentences(text, min(hit.start, table[0]) - MARGIN, max(hit.end, table[1]))]
        else:
            near = _whole_sentences(text, hit.start - MARGIN, hit.end + MARGIN)
            own = [_header(text, table), near] if table else [near]
        merged = _merged([*spans, *own])
        if spans and _chars(merged) > size:
            continue
        spans = merged
    return spans


def _chars(spans: Sequence[Span]) -> int:
    return sum(end - start for start, end in spans)


def _table_at(text: str, start: int, end: int) -> Span | None:
    """The whole Markdown table that the hit has lines of; the last one, if there are two."""
    found = None
    at = text.rfind("\n", 0, start) + 1
    while at < min(end, len(text)):
        stop = _line_end(text, at)
        if text.startswith("|", at):
            found = at
        at = stop + 1
    if found is None:
        return None
    first, last = found, _line_end(text, found)
    while first > 0 and text.startswith("|", begin := text.rfind("\n", 0, first - 1) + 1):
        first = begin
    while last + 1 < len(text) and text[last + 1] == "|":
        last = _line_end(text, last + 1)
    return first, last


def _header(text: str, table: Span) -> Span:
    """The header rows of a table, with the rule below them; the first row where there is no rule."""
    first = _line_end(text, table[0])
    second = _line_end(text, min(first + 1, len(text)))
    return (table[0], second) if _RULE.fullmatch(text[first + 1 : second].strip()) else (table[0], first)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _whole_sentences(text: str, start: int, end: int) -> Span:
    """The span widened to whole sentences or lines, by at most MARGIN on each side."""
    start, end = max(0, start), min(len(text), end)
    if start > 0:
        reach = max(0, start - MARGIN)
        line = text.rfind("\n", reach, start) + 1
        *_, last = (line, *(place + 1 for place in sentence_ends(text, max(line, reach), start)))
        start = last or start
    if end < len(text):
        line = text.find("\n", end, end + MARGIN)
        reach = line if line >= 0 else min(len(text), end + MARGIN)
        end = next(sentence_ends(text, end, reach), line + 1 or end)
    return start, end


def _merged(spans: Sequence[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged
