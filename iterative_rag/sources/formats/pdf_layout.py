"""The lines of a page of a PDF in reading order: columns one after the other, tables row by row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from itertools import chain, groupby, permutations

from iterative_rag.sources.formats.pdf_characters import RTL_LETTER, Run, word_gap

# A page of more is a drawing or an attack, and keeps the order of the file.
_MAX_RUNS, _MAX_BLOCKS = 4_000, 120
_BLOCK_GAP = 2.2  # heights of a line below the last one of a block
_CELL_LINES = 6  # of a cell of a table; what is longer is a column
_LOWER_START = re.compile(r"\W*[a-zß-öø-ÿа-яα-ω]")


@dataclass(slots=True)
class Block:
    """Lines that follow one another, with the edges of all."""

    lines: list[Run]
    left: float = 0
    right: float = 0
    top: float = 0
    bottom: float = 0
    prose: bool | None = None

    def __post_init__(self) -> None:
        self.left, self.right = min(run.left for run in self.lines), max(run.right for run in self.lines)
        self.top = max(run.base + 0.8 * run.height for run in self.lines)
        self.bottom = min(run.base for run in self.lines)

    @property
    def text(self) -> str:
        return " ".join(run.text for run in self.lines)

    def is_prose(self) -> bool:
        """Whether its lines go on from one to the next, as those of a table or a list do not."""
        if self.prose is None:
            text = "".join(run.text for run in self.lines)
            full = sum(run.right - run.left > 0.6 * (self.right - self.left) for run in self.lines)
            lower = sum(bool(_LOWER_START.match(run.text)) for run in self.lines)
            goes_on = 5 * lower >= len(self.lines) if text.lower() != text.upper() else len(text) > 40
            self.prose = 2 * full >= len(self.lines) and goes_on
        return self.prose

    def is_beside(self, other: Block) -> bool:
        shared = min(self.top, other.top) - max(self.bottom, other.bottom)
        return self.overlap(other) <= 0 and 2 * shared > min(self.top - self.bottom, other.top - other.bottom)

    def overlap(self, other: Block) -> float:
        """The width that two blocks have one above the other; negative where they are side by side."""
        return min(self.right, other.right) - max(self.left, other.left)


def blocks_of(runs: Sequence[Run]) -> list[Block]:
    """The lines of a page in reading order: that of the file, unless it goes up or back on the page."""
    upright = [run for run in runs if not run.turned]
    if len(upright) > _MAX_RUNS:
        return [Block([run]) for run in runs]
    stacks: list[list[Run]] = []
    for run in upright:
        # A cell that others follow in its row is left by what begins at their left.
        leaves = len(stacks) > 1 and stacks[-2][-1].is_beside(stacks[-1][0]) and run.left < stacks[-2][-1].right
        leaves = leaves and stacks[-2][-1].right <= stacks[-1][0].left
        if not (stacks and not leaves and _continues(stacks[-1], run)):
            if stacks and len(stacks[-1]) > 1 and stacks[-1][-1].is_beside(run):
                stacks.append([stacks[-1].pop()])  # the first cell of a row, and not the last line of a text
            stacks.append([run])
    blocks = [block for rows in _in_rows(map(Block, stacks)) for block in _columns(rows)]
    if len(blocks) <= _MAX_BLOCKS:
        blocks = _sorted(blocks)
    return blocks + [Block([run]) for run in runs if run.turned]


def _continues(stack: list[Run], run: Run) -> bool:
    """Adds a run to a stack where it stands under its last line, or is a piece of that line in a justified text."""
    last = stack[-1]
    if last.is_beside(run):
        if len(stack) < 2 or not last.right <= run.left < run.right <= stack[-2].right + 1:
            return False
        last.text, last.right = f"{last.text} {run.text}", run.right
        return True
    is_near = 0 < last.base - run.base < _BLOCK_GAP * max(last.height, run.height)
    if is_near and run.left < last.right and last.left < run.right:
        stack.append(run)
        return True
    return False


def _in_rows(stacks: Iterable[Block]) -> list[list[list[Block]]]:
    """The stacks in rows: what is side by side is one row, and rows close to one another belong together."""
    groups: list[list[list[Block]]] = []
    for stack in stacks:
        row = groups[-1][-1] if groups else []
        height = stack.lines[0].height
        if row and max(len(row[-1].lines), len(stack.lines)) <= _CELL_LINES and all(map(stack.is_beside, row)):
            row.append(stack)
            continue
        below = (min(cell.bottom for cell in row) - stack.top) / (height or 1) if row else -1
        near = any(cell.overlap(stack) > 0 for line in groups[-1][-2:] for cell in line) if groups else False
        if near and -0.5 < below < (2.5 if len(row) > 1 else 1.4):
            groups[-1].append([stack])
        else:
            groups.append([[stack]])
    return groups


def _columns(rows: list[list[Block]]) -> list[Block]:
    """The columns of prose whose lines are mixed in the file, each a block; else the rows as one block."""
    if len(rows) == 1 and all(len(cell.lines) > 1 and cell.is_prose() for cell in rows[0]):
        return rows[0]
    runs = [run for row in rows for cell in row for run in cell.lines]
    best, edge = 2, 0
    for at in {round(run.left) for run in runs if len(rows) > 2}:
        left, right = _sides(runs, at)
        right = [run for run in right if run.left < at + 2 * run.height]
        if min(len(left), len(right)) > best:
            sides = Block(left), Block(right)
            level = max(side.bottom for side in sides) < min(side.top for side in sides)
            if level and all(side.is_prose() for side in sides):
                best, edge = min(len(left), len(right)), at
    if best == 2:
        return [Block(_lines(rows))]
    blocks: list[Block] = []
    band: list[Run] = []
    for run in [*sorted(runs, key=lambda run: -run.base), None]:
        if run is not None and any(_sides([run], edge)):
            band.append(run)
            continue
        parts = [side for side in _sides(band, edge) if side]
        if len(parts) < 2 or min(map(len, parts)) < 2:
            parts = [band] if band else []
        blocks += [block for part in parts for block in _columns(_by_baseline(part))]
        blocks += [Block([run])] if run is not None else []
        band = []
    return blocks


def _sides(runs: Iterable[Run], edge: float) -> tuple[list[Run], list[Run]]:
    """The runs that end left of an edge, and those that begin there or right of it."""
    held = list(runs)
    return [run for run in held if run.right < edge - 0.4 * run.height], [run for run in held if run.left > edge - 1]


def _by_baseline(runs: Iterable[Run]) -> list[list[Block]]:
    rows: list[list[Block]] = []
    for run in runs:
        if rows and rows[-1][0].lines[0].is_beside(run):
            rows[-1].append(Block([run]))
        else:
            rows.append([Block([run])])
    return rows


def _lines(rows: list[list[Block]]) -> list[Run]:
    """Rows as lines: a table as Markdown, other pieces of a line with spaces between them."""
    if len(rows) == 1 and len({len(cell.lines) for cell in rows[0]}) == 1 and not rows[0][0].is_prose():
        rows = _by_baseline(sorted((run for cell in rows[0] for run in cell.lines), key=lambda run: -run.base))
    lines: list[Run] = []
    for several, group in groupby(rows, key=lambda row: len(row) > 1):
        held = list(group)
        lines += _joined(held) if several else [run for row in held for run in row[0].lines]
    return lines


def _joined(rows: list[list[Block]]) -> list[Run]:
    """One line for each row of several cells."""
    lines: list[Run] = []
    for row in rows:
        backwards = any(RTL_LETTER.search(run.text) for cell in row for run in cell.lines)
        row.sort(key=lambda cell: -cell.right if backwards else cell.left)
        line = Run(row[0].lines[0].base, row[0].lines[0].height)
        for cell in row:
            gap = line.gap(cell.left, cell.right) / (line.height or 1)
            space = "" if not line.text or gap < word_gap(line.text, cell.text) else "  " if len(row) > 1 else " "
            line.text += space + cell.text
            line.left, line.right = min(line.left, cell.left), max(line.right, cell.right)
        lines.append(line)
    if Block(lines).is_prose():
        for line in lines:
            line.text = line.text.replace("  ", " ")
    elif len(rows) > 2 and (cells := _cells(rows)):
        for number, (line, texts) in enumerate(zip(lines, cells, strict=True)):
            line.text = f"| {' | '.join(texts)} |" + ("" if number else "\n" + "|---" * len(texts) + "|")
    return lines


def _cells(rows: Sequence[Sequence[Block]]) -> list[list[str]]:
    """The cells of a table by row and column; no rows where it has fewer than three columns, or no head."""
    edges: list[tuple[float, float]] = []
    for cell in sorted(chain.from_iterable(rows), key=lambda cell: cell.left):
        if edges and cell.left < edges[-1][1]:
            edges[-1] = edges[-1][0], max(edges[-1][1], cell.right)
        else:
            edges.append((cell.left, cell.right))
    table = [
        [" ".join(cell.text.replace("|", "\\|") for cell in row if left <= cell.left < right) for left, right in edges]
        for row in rows
    ]
    has_head = all(text and not re.search(r"\d", text) for text in table[0])
    return table if len(edges) > 2 and has_head else []


def _sorted(blocks: list[Block]) -> list[Block]:
    """The blocks in reading order (Breuel 2003): above before below, left column before right."""
    after: dict[int, set[int]] = {number: set() for number in range(len(blocks))}
    runs = [run for block in blocks for run in block.lines]
    mirrored = 2 * sum(bool(RTL_LETTER.search(run.text)) for run in runs) > len(runs)
    goes_back = False
    for (index, first), (other, second) in permutations(enumerate(blocks), 2):
        over = first.overlap(second) > 0
        if over:
            before = first.bottom > second.bottom and first.top > second.top
        else:
            before = (first.left < second.left) != mirrored
        if before:
            after[other].add(index)
            goes_back |= index > other and (over or min(first.top, second.top) > max(first.bottom, second.bottom))
    if not goes_back:
        return blocks
    lowest = min(range(len(blocks)), key=lambda number: blocks[number].top)
    if all(blocks[lowest].top < block.bottom for block in blocks if block is not blocks[lowest]):
        # A page number under the columns.
        after = {number: before - {lowest} for number, before in after.items()} | {lowest: set(after) - {lowest}}
    try:
        return [blocks[number] for number in TopologicalSorter(after).static_order()]
    except CycleError:
        return sorted(blocks, key=lambda block: (-block.top, block.left))
