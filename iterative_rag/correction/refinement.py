"""Knowledge refinement: windows cut into strips, each graded, the rest dropped (corrective RAG, Yan et al., 2024).

A strip is a few sentences or one table with its header. Strips are offsets of the document, so what is quoted from
them can still be found there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from iterative_rag.protocols import Grader
from iterative_rag.retrieval.chunking import chunk
from iterative_rag.retrieval.windows import GAP
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Document, Grade, Need, Window

# Windows shorter than this are read as they are: there is little to drop.
SHORTEST = 1200
STRIP_CHARS = 450
# Strips of a window that stay where none is good enough: graders err, and nobody can quote nothing.
FEWEST = 2

_LINES = lazy_pattern(r"[^\n]+")
_HEADING = lazy_pattern(r"#{1,6} ")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Strip:
    """A piece of a window: its spans in the document (two where a table's header stands away from its rows), their
    text, and the title and section that it stands in."""

    spans: tuple[Span, ...]
    text: str
    heading: str
    table: bool = False


@dataclass(frozen=True, slots=True)
class Refined:
    """Windows of what serves the need, in the order they came in, and how many strips of all were kept and dropped."""

    windows: tuple[Window, ...]
    kept: int
    dropped: int


@dataclass(frozen=True, slots=True)
class Refiner:
    """Strips graded below `lower` are dropped."""

    grader: Grader
    lower: float

    def refine(self, need: Need, windows: Sequence[Window]) -> Refined:
        """All windows' strips are graded in one go. Raises what the grader raises."""
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
    """The strips of a window, in its order; together they hold all of its text but white space."""
    found: list[Strip] = []
    offset = 0
    for start, end in window.spans:
        piece = window.text[offset : offset + end - start]
        offset += end - start + len(GAP)
        for strip in _strips(window, piece, start):
            last = found[-1] if found else None
            if last and last.table and strip.table and last.spans[-1][1] < start <= strip.spans[0][0]:
                # The header of a long table, and its rows around a hit.
                merged = (*last.spans, *strip.spans)
                strip = replace(last, spans=merged, text=f"{last.text}\n{strip.text}")
                found.pop()
            found.append(strip)
    return tuple(found)


def _strips(window: Window, piece: str, start: int) -> Iterator[Strip]:
    """The strips of a piece of text that begins at `start` in the document."""
    for first, last, table in _blocks(piece):
        if table:
            yield Strip(((start + first, start + last),), piece[first:last], window.title, table=True)
            continue
        prose = Document(window.document_id, window.title, piece[first:last], window.source)
        for passage in chunk(prose, size=STRIP_CHARS, overlap=0):
            at = start + first
            yield Strip(((at + passage.start, at + passage.end),), passage.text, passage.header.split("\n")[0])


def _blocks(piece: str) -> Iterator[tuple[int, int, bool]]:
    """Runs of lines that are rows of a table, or none, as (start, end, table); a heading goes with its table."""
    marked = [(match.start(), match.end(), _is_row(match[0], match.start())) for match in _LINES.finditer(piece)]
    for place in range(len(marked) - 2, -1, -1):
        begin, end, row = marked[place]
        if not row and marked[place + 1][2] and _HEADING.match(piece, begin):
            marked[place] = (begin, end, True)
    starts = [0, *(place + 1 for place, (one, other) in enumerate(pairwise(marked)) if one[2] != other[2])]
    for first, after in pairwise([*starts, len(marked)]):
        if first < after:
            yield marked[first][0], marked[after - 1][1], marked[first][2]


def _is_row(line: str, at: int) -> bool:
    """Whether a line is a row; the first of a piece may have lost its beginning."""
    bare = line.strip()
    return bare.startswith("|") or (at == 0 and bare.endswith("|"))


def _chosen(own: Sequence[Strip], grades: Sequence[Grade], lower: float) -> list[int]:
    """The places of the strips that stay; the best where none is good enough."""
    good = [place for place, grade in enumerate(grades) if grade.score >= lower]
    best = sorted(range(len(own)), key=lambda place: (-grades[place].score, place))[:FEWEST]
    return good or sorted(best)


def _narrowed(window: Window, own: Sequence[Strip], chosen: Sequence[int]) -> Window:
    """The window with the chosen strips alone; those that follow one another stay together."""
    spans: list[Span] = []
    for before, place in zip([-2, *chosen], chosen, strict=False):
        first, *rest = own[place].spans
        whole = any(start <= spans[-1][0] and first[1] <= end for start, end in window.spans) if spans else False
        if before == place - 1 and whole:
            spans[-1] = (spans[-1][0], first[1])
        else:
            spans.append(first)
        spans += rest
    return replace(window, spans=tuple(spans), text=GAP.join(_text_at(window, *span) for span in spans))


def _text_at(window: Window, first: int, last: int) -> str:
    """The document's text between two offsets that lie in one span of the window."""
    offset = 0
    for start, end in window.spans:
        if start <= first and last <= end:
            return window.text[offset + first - start : offset + last - start]
        offset += end - start + len(GAP)
    raise ValueError(f"the window of {window.title!r} does not hold {first}..{last}")
