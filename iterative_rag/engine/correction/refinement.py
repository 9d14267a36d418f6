"""Knowledge refinement: windows are cut into strips, and strips of a low grade dropped (CRAG, Yan et al., 2024).

A strip is a few sentences, or one table with its header. Strips are offsets into the document, so a quote from one can
still be found there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from iterative_rag.protocols import Grader
from iterative_rag.retrieval.chunking import chunk
from iterative_rag.retrieval.windows import GAP, as_cut, is_cut
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Document, Grade, Need, Window

# Windows shorter than this are read as they are: there is little to drop.
SHORTEST = 1200
STRIP_CHARS = 450
# Strips of a window that are kept where none is good enough: graders err, and a fact needs something to quote.
FEWEST = 2

_LINES = lazy_pattern(r"[^\n]+")
_HEADING = lazy_pattern(r"#{1,6} ")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Strip:
    """A piece of a window: its spans in the document (two for a table whose header is apart from its rows), their text,
    and the title and section that it is in."""

    spans: tuple[Span, ...]
    text: str
    heading: str
    table: bool = False


@dataclass(frozen=True, slots=True)
class Refined:
    """The windows without their irrelevant strips, in the same order, and how many strips were kept and dropped."""

    windows: tuple[Window, ...]
    kept: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Refiner:
    """Drops strips graded below `lower`."""

    grader: Grader
    lower: float

    def refine(self, need: Need, windows: Sequence[Window]) -> Refined:
        """The strips of all windows are graded in one call. Raises what the grader raises."""
        cut = [strips(window) if len(window.text) >= SHORTEST else () for window in windows]
        texts = [(strip.heading, strip.text) for own in cut for strip in own]
        grades = iter(self.grader.grade(need, texts) if texts else ())
        refined: list[Window] = []
        kept = dropped = 0
        for window, own in zip(windows, cut, strict=True):
            chosen = _chosen(own, [next(grades) for _ in own], self.lower)
            refined.append(_narrowed(window, own, chosen) if len(chosen) < len(own) else window)
            kept += len(chosen) or 1
            dropped += len(own) - len(chosen)
        return Refined(tuple(refined), kept, dropped)


def strips(window: Window) -> tuple[Strip, ...]:
    """The strips of a window, in order; together they are all of its text except white space."""
    all_strips: list[Strip] = []
    offset = 0
    for start, end in window.spans:
        piece = window.text[offset : offset + end - start]
        offset += end - start + len(GAP)
        for strip in _strips(window, piece, start):
            last = all_strips[-1] if all_strips else None
            if last and last.table and strip.table and last.spans[-1][1] < start <= strip.spans[0][0]:
                # The header of a long table, with the rows around a hit.
                merged = (*last.spans, *strip.spans)
                strip = replace(last, spans=merged, text=f"{last.text}\n{strip.text}")
                all_strips.pop()
            all_strips.append(strip)
    return tuple(all_strips)


def _strips(window: Window, piece: str, start: int) -> Iterator[Strip]:
    """The strips of a text that begins at `start` in the document."""
    for first, last, table in _blocks(piece):
        if table:
            yield Strip(((start + first, start + last),), piece[first:last], window.title, table=True)
            continue
        prose = Document(window.document_id, window.title, piece[first:last], window.source)
        for passage in chunk(prose, size=STRIP_CHARS, overlap=0):
            at = start + first
            yield Strip(((at + passage.start, at + passage.end),), passage.text, passage.header.split("\n")[0])


def _blocks(piece: str) -> Iterator[tuple[int, int, bool]]:
    """Runs of table rows and of other lines, as (start, end, is_table); a heading belongs to the table below it."""
    marked = [(match.start(), match.end(), _is_row(match[0], match.start())) for match in _LINES.finditer(piece)]
    for index in range(len(marked) - 2, -1, -1):
        begin, end, row = marked[index]
        if not row and marked[index + 1][2] and _HEADING.match(piece, begin):
            marked[index] = (begin, end, True)
    starts = [0, *(index + 1 for index, (line, other) in enumerate(pairwise(marked)) if line[2] != other[2])]
    for first, after in pairwise([*starts, len(marked)]):
        if first < after:
            yield marked[first][0], marked[after - 1][1], marked[first][2]


def _is_row(line: str, at: int) -> bool:
    """Whether a line is a table row; the first row of a text may have lost its beginning."""
    bare = line.strip()
    return bare.startswith("|") or (at == 0 and bare.endswith("|"))


def _chosen(own: Sequence[Strip], grades: Sequence[Grade], lower: float) -> list[int]:
    """The indexes of the strips that are kept; the best ones where none is good enough."""
    good = [index for index, grade in enumerate(grades) if grade.score >= lower]
    best = sorted(range(len(own)), key=lambda index: (-grades[index].score, index))[:FEWEST]
    return good or sorted(best)


def _narrowed(window: Window, own: Sequence[Strip], chosen: Sequence[int]) -> Window:
    """The window with the chosen strips only; adjacent strips stay together. With the last one stays the sign that its
    table goes on behind the window."""
    spans: list[Span] = []
    for before, index in zip([-2, *chosen], chosen, strict=False):
        first, *rest = own[index].spans
        whole = any(start <= spans[-1][0] and first[1] <= end for start, end in window.spans) if spans else False
        if before == index - 1 and whole:
            spans[-1] = (spans[-1][0], first[1])
        else:
            spans.append(first)
        spans += rest
    text = GAP.join(_text_at(window, *span) for span in spans)
    if is_cut(window) and len(own) - 1 in chosen:
        text = as_cut(text)
    return replace(window, spans=tuple(spans), text=text)


def _text_at(window: Window, first: int, last: int) -> str:
    """The document's text between two offsets within one span of the window."""
    offset = 0
    for start, end in window.spans:
        if start <= first and last <= end:
            return window.text[offset + first - start : offset + last - start]
        offset += end - start + len(GAP)
    raise ValueError(f"the window of {window.title!r} does not hold {first}..{last}")
