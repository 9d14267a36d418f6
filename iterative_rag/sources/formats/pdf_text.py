"""The text of a PDF from the lines of its pages: without running heads, its paragraphs and broken words whole."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from iterative_rag.sources.formats.format import MAX_CHARS
from iterative_rag.sources.formats.pdf_characters import Run
from iterative_rag.sources.formats.pdf_layout import Block, blocks_of, rows_of
from iterative_rag.text.unspaced import UNSPACED

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
            leading = _leading(block)
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


def _leading(block: Block) -> float:
    steps = [first.base - second.base for first, second in zip(block.lines, block.lines[1:], strict=False)]
    return statistics.median(steps) if steps else 0.0


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
    prose = _LOWER_START.match(line.text) or (above.is_prose() and block.is_prose())
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
