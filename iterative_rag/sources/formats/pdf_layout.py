"""The lines of a page of a PDF in reading order: columns of prose one after the other, all else row by row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from iterative_rag.sources.formats.pdf_characters import RTL_LETTER, Run, word_gap

_MAX_RUNS = 4_000  # a page of more is a drawing or an attack, and keeps the order of the file
_BLOCK_GAP = 2.2  # heights of a line below the last one of a block
_AREA_GAP = 3.0  # heights between parts of a page that have columns of their own
_COLUMN_LINES = 3  # at least
_LOWER_START = re.compile(r"\W*[a-zß-öø-ÿа-яα-ω]")


@dataclass(slots=True)
class Block:
    """Lines that follow one another, with the edges of all."""

    lines: list[Run]
    left: float = 0
    right: float = 0
    prose: bool | None = None

    def __post_init__(self) -> None:
        self.left, self.right = min(run.left for run in self.lines), max(run.right for run in self.lines)

    def is_prose(self) -> bool:
        """Whether its lines go on from one to the next, as those of a table or a list do not."""
        if self.prose is None:
            text = "".join(run.text for run in self.lines)
            full = sum(run.right - run.left > 0.6 * (self.right - self.left) for run in self.lines)
            lower = sum(bool(_LOWER_START.match(run.text)) for run in self.lines)
            goes_on = 5 * lower >= len(self.lines) if text.lower() != text.upper() else len(text) > 40
            self.prose = 2 * full >= len(self.lines) and goes_on
        return self.prose


def blocks_of(runs: Sequence[Run]) -> list[Block]:
    """The lines of a page in reading order, turned ones last."""
    upright = [run for run in runs if not run.turned]
    if len(upright) > _MAX_RUNS:
        return [Block([run]) for run in runs]
    rows = rows_of(sorted(upright, key=lambda run: -run.base))
    areas = _apart(rows, _AREA_GAP) if rows else ()
    return [block for area in areas for block in _columns(area)] + [Block([run]) for run in runs if run.turned]


def _columns(rows: list[list[Run]]) -> list[Block]:
    """The blocks of rows from above to below; where they are two columns of prose, those of the left one first."""
    edge = _edge([run for row in rows for run in row])
    if edge is None:
        return [*map(_block, _apart(rows, _BLOCK_GAP))]
    blocks: list[Block] = []
    for across, group in groupby(rows, key=lambda row: any(not any(_sides([run], edge)) for run in row)):
        band = [*group]
        sides = [side for side in _sides([run for row in band for run in row], edge) if side]
        if len(band) == len(rows) and across:
            return [*map(_block, _apart(rows, _BLOCK_GAP))]
        parts = [band] if across or len(sides) < 2 or min(map(len, sides)) < 2 else map(rows_of, sides)
        blocks += [block for part in parts for block in _columns(part)]
    return blocks


def _edge(runs: list[Run]) -> float | None:
    """Where the right one of two columns of prose begins; of several, what parts the most lines."""
    best, edge = _COLUMN_LINES - 1, None
    for at in {round(run.left) for run in runs}:
        left, right = _sides(runs, at)
        right = [run for run in right if run.left < at + 2 * run.height]
        if min(len(left), len(right)) > best:
            level = max(left[-1].base, right[-1].base) < min(left[0].base, right[0].base)
            if level and Block(left).is_prose() and Block(right).is_prose():
                best, edge = min(len(left), len(right)), at
    return edge


def _sides(runs: Iterable[Run], edge: float) -> tuple[list[Run], list[Run]]:
    """The runs that end left of an edge, and those that begin there or right of it."""
    held = list(runs)
    return [run for run in held if run.right < edge - 0.4 * run.height], [run for run in held if run.left > edge - 1]


def rows_of(runs: Iterable[Run]) -> list[list[Run]]:
    """The runs by their baseline."""
    rows: list[list[Run]] = []
    for run in runs:
        if rows and rows[-1][0].is_beside(run):
            rows[-1].append(run)
        else:
            rows.append([run])
    return rows


def _apart(rows: list[list[Run]], gap: float) -> Iterator[list[list[Run]]]:
    """Rows that stand together, without a gap of so many heights between them."""
    start = 0
    for at in range(1, len(rows)):
        above, below = rows[at - 1][0], rows[at][0]
        if above.base - below.base > gap * max(above.height, below.height):
            yield rows[start:at]
            start = at
    yield rows[start:]


def _block(rows: list[list[Run]]) -> Block:
    """A line for each row; a table as Markdown, other cells with two spaces between them."""
    lines: list[Run] = []
    for several, group in groupby(rows, key=lambda row: len(row) > 1):
        held = list(group)
        lines += map(_line, held)
        for line, text in zip(lines[-len(held) :], _table(held) if several else (), strict=False):
            line.text = text
    block = Block(lines)
    for line in lines if block.is_prose() else ():
        line.text = line.text.replace("  ", " ")
    return block


def _line(row: list[Run]) -> Run:
    backwards = any(RTL_LETTER.search(run.text) for run in row)
    line, *others = sorted(row, key=lambda run: -run.right if backwards else run.left)
    for run in others:
        gap = line.gap(run.left, run.right) / (line.height or 1)
        text = line.text + ("" if gap < word_gap(line.text, run.text) else "  ") + run.text
        line = Run(line.base, line.height, min(line.left, run.left), max(line.right, run.right), text)
    return line


def _table(rows: list[list[Run]]) -> list[str]:
    """Rows of cells as lines of Markdown; none where they have fewer than three columns, or no head."""
    edges: list[tuple[float, float]] = []
    for run in sorted((run for row in rows for run in row), key=lambda run: run.left):
        if edges and run.left < edges[-1][1]:
            edges[-1] = edges[-1][0], max(edges[-1][1], run.right)
        else:
            edges.append((run.left, run.right))
    head, *table = (
        [" ".join(run.text.replace("|", "\\|") for run in row if left <= run.left < right) for left, right in edges]
        for row in rows
    )
    if len(rows) < 3 or len(edges) < 3 or not all(text and not re.search(r"\d", text) for text in head):
        return []
    first, *others = [f"| {' | '.join(cells)} |" for cells in (head, *table)]
    return [f"{first}\n{'|---' * len(edges)}|", *others]
