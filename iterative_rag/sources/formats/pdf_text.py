"""The text of a PDF from the lines of its pages, in reading order (columns of prose one after the other, all else row
by row): without running heads, its paragraphs and broken words whole."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby, pairwise

from iterative_rag.sources.formats.cells import table_of
from iterative_rag.sources.formats.format import MAX_CHARS
from iterative_rag.sources.formats.pdf_characters import RTL_LETTER, Run, word_gap
from iterative_rag.text.unspaced import UNSPACED

_MAX_RUNS = 4_000  # a page of more is a drawing or an attack, and keeps the order of the file
_BLOCK_GAP = 2.2  # heights of a line below the last one of a block
_AREA_GAP = 3.0  # heights between parts of a page that have columns of their own
_COLUMN_LINES = 3  # at least


@dataclass
class Block:
    """Lines that follow one another, with the edges of all."""

    lines: list[Run]
    left: float = 0
    right: float = 0

    def __post_init__(self) -> None:
        self.left, self.right = min(run.left for run in self.lines), max(run.right for run in self.lines)

    @cached_property
    def is_prose(self) -> bool:
        """Whether its lines go on from one to the next, as those of a table or a list do not."""
        text = "".join(run.text for run in self.lines)
        full = sum(run.right - run.left > 0.6 * (self.right - self.left) for run in self.lines)
        lower = sum(bool(_LOWER_START.match(run.text)) for run in self.lines)
        goes_on = 5 * lower >= len(self.lines) if text.lower() != text.upper() else len(text) > 40
        return 2 * full >= len(self.lines) and goes_on


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
            if level and Block(left).is_prose and Block(right).is_prose:
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
    for line in lines if block.is_prose else ():
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
    cells = [[" ".join(run.text for run in row if left <= run.left < right) for left, right in edges] for row in rows]
    if len(rows) < 3 or len(edges) < 3 or not all(text and not re.search(r"\d", text) for text in cells[0]):
        return []
    head, line, *others = table_of(cells).split("\n")
    return [f"{head}\n{line}", *others]


_SENTENCE_ENDS = tuple('.!?…:;"”’)。！？؟۔')
_LIST_ITEM = re.compile(r"[•·▪◦‣*–—-]\s|\(?(?:\d{1,3}|[a-zA-Z])[.)]\s")
_LOWER_START = re.compile(r"[\"'“‘(\[]?[a-zß-öø-ÿа-яα-ω]")
_UNSPACED = re.compile(f"[{UNSPACED}]")
# The number of a page, alone or in its words: "12", "- 12 -", "Page 12 of 40", "xii".
_PAGE_NUMBER = re.compile(
    r"[\W_]*(?:[^\W\d_]{1,6}\b\.?\s?|第)?(?:(?P<number>\d{1,5})(?:\s*(?:/|[^\W\d_]{1,3})\s*\d{1,5})?|[ivxlc]{1,7})[\W_]*",
    re.IGNORECASE,
)
_LEFT_OUT = "running heads and page numbers"
_LONGEST_WORD = 64
_EDGE_LINES, _NEAR_PAGES = 3, (-2, -1, 1, 2)
# Stand for the beginning of a page and for a hyphen at the end of a line until the whole text is known.
_PAGE, _BROKEN = "\f", "\x02"
_BROKEN_WORD, _FIRST_PART = re.compile(f"{_BROKEN}({_PAGE}*)(\\w+)(?=(-?))"), re.compile(r"[\w-]*\w$")
_WORD = re.compile(r"\w+(?:-\w+)*")


def text_of(pages: Sequence[list[Run]], kinds: Counter[str]) -> tuple[str, tuple[int, ...]]:
    """The text, and the offset at which each page begins; counts what repeats on the pages and is left out."""
    _remove_furniture(pages, kinds)
    parts: list[str] = []
    before: tuple[Run, Block] | None = None
    for runs in pages:
        mark = _PAGE
        for block in blocks_of(runs):
            steps = [above.base - below.base for above, below in pairwise(block.lines)]
            leading = statistics.median(steps) if steps else 0.0
            for line in block.lines:
                separator = _separator(*before, line, block, leading) if before else ""
                if separator == _BROKEN:
                    parts[-1] = parts[-1][:-1]
                parts += [separator, mark, line.text]
                before, mark = (line, block), ""
        parts.append(mark)
    text = "".join(parts)
    words = {word.lower() for word in _WORD.findall(text)}
    text = _BROKEN_WORD.sub(lambda match: _whole(match, words), text).replace(_BROKEN, "-")
    starts = accumulate(len(part) for part in text.split(_PAGE)[:-1])
    return text.replace(_PAGE, "")[:MAX_CHARS], tuple(starts)


def _separator(before: Run, above: Block, line: Run, block: Block, leading: float) -> str:
    """What stands between two lines: a space within a paragraph, a line end, or an empty line."""
    same, ended = above is block, before.text.endswith(_SENTENCE_ENDS)
    alike = abs(before.height - line.height) < 0.12 * max(before.height, line.height)
    rows = before.text.startswith("| "), line.text.startswith("| ")
    if any(rows):
        return "\n" if all(rows) else "\n\n"
    if line.turned or before.turned or (same and (not alike or before.base - line.base > 1.35 * leading)):
        return "\n\n"
    if before.text.endswith(("-", "‐", "\xad")) and (before.text[-2:-1] + line.text[0]).isalnum() and (alike or same):
        return _BROKEN
    listed = "  " in before.text + line.text or _LIST_ITEM.match(line.text)
    prose = _LOWER_START.match(line.text) or (above.is_prose and block.is_prose)
    full = before.right - before.left > (0.5 if prose else 0.85) * (above.right - above.left)
    if same:
        indented = ended and line.left - before.left > 0.7 * line.height
        together = "" if _UNSPACED.match(line.text) and _UNSPACED.match(before.text[-1]) else " "
        return together if full and not listed and not indented else "\n"
    # At the top of the next page or column.
    cut = line.base >= before.base and len(before.text) > 20 and (before.text[-1].islower() or before.text[-1] == ",")
    goes_on = cut or (full and not listed)
    return " " if goes_on and alike and not ended else "\n\n" if ended else "\n"


def _whole(match: re.Match[str], words: set[str]) -> str:
    """The second part of a word that was broken at the end of a line: the hyphen stays where it belongs to the word."""
    page, second, chained = match.groups()
    before = _FIRST_PART.search(match.string[max(0, match.start() - _LONGEST_WORD) : match.start()])
    first = before[0] if before else "-"
    joined, hyphened = f"{first}{second}".lower(), f"{first}-{second}".lower()
    compound = not second[0].islower() or not first[-1].isalpha() or "-" in first + chained
    keep = joined not in words and (compound or hyphened in words)
    return f"{'-' if keep else ''}{page}{second}"


def _remove_furniture(pages: Sequence[list[Run]], kinds: Counter[str]) -> None:
    """Removes running heads and page numbers from the pages; a head stays where it begins the text."""
    edges = [_edge_lines(runs) for runs in pages]
    for number, sides in enumerate(edges):
        near = [at for step in _NEAR_PAGES if 0 <= (at := number + step) < len(pages)]
        for side, lines in enumerate(sides):
            for line in lines:
                if not any(_repeats(line, other, at - number) for at in near for other in edges[at][side]):
                    break
                if number or side or all(_PAGE_NUMBER.fullmatch(run.text) for run in line):
                    kinds[_LEFT_OUT] += 1
                    pages[number][:] = [run for run in pages[number] if run not in line]


def _edge_lines(runs: Sequence[Run]) -> tuple[list[list[Run]], list[list[Run]]]:
    """The first lines of a page from above and from below; what is on every line is no running head."""
    upright = sorted((run for run in runs if not run.turned), key=lambda run: -run.base)
    lines = [sorted(line, key=lambda run: run.left) for line in rows_of(upright)]
    count = min(_EDGE_LINES, len(lines) // 2)
    return lines[:count], lines[::-1][:count]


def _repeats(line: Sequence[Run], other: Sequence[Run], distance: int) -> bool:
    """Whether two lines at one height of different pages are the same, but for the number of the page."""
    return len(line) == len(other) and all(
        abs(first.base - second.base) < 3
        and (first.text == second.text or _counts_up(first.text, second.text, distance))
        for first, second in zip(line, other, strict=True)
    )


def _counts_up(first: str, second: str, distance: int) -> bool:
    low, high = _PAGE_NUMBER.fullmatch(first), _PAGE_NUMBER.fullmatch(second)
    if low is None or high is None:
        return False
    return (low["number"] or high["number"]) is None or int(high["number"] or 0) - int(low["number"] or 0) == distance
