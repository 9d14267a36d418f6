"""The lines of Markdown tables and lists: which are rows or entries, and the cells of a row with their offsets."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.text.patterns import lazy_pattern

# A row of "| - | - |" has empty cells; "|-|-|" is a rule.
_RULE_CELL = r"(?:\s*:?-{2,}:?\s*|:?-:?)"
_RULE = lazy_pattern(rf"\s*\|?{_RULE_CELL}(?:[|+]{_RULE_CELL})*\|?\s*")
# What an entry of a list begins with: a bullet or a number.
ENTRY_SIGN = r"[ \t]*(?:[-*+•][ \t]+|\d{1,3}[.)][ \t]+)(?=\S)"
_BAR = lazy_pattern(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class RowCell:
    """A cell without surrounding spaces: `line[start:end]`, in `text` with escaped bars resolved."""

    text: str
    start: int
    end: int


def is_row(line: str) -> bool:
    """Whether a line is a row with bars at both ends."""
    bare = line.strip()
    return len(bare) > 1 and bare[0] == bare[-1] == "|"


def is_rule(line: str) -> bool:
    """Whether a line is the rule between header and body: "|---|:-:|"."""
    return _RULE.fullmatch(line) is not None


def row_cells(line: str) -> tuple[RowCell, ...]:
    """The cells of a row, left to right. The bars at its ends may be missing, as models leave them out."""
    bars = [bar.start() for bar in _BAR.finditer(line)]
    first, last = len(line) - len(line.lstrip()), len(line.rstrip())
    opening = bars[:1] == [first]
    closing = len(bars) > opening and bars[-1] == last - 1
    inner = bars[opening : len(bars) - closing]
    starts = [first + opening, *(bar + 1 for bar in inner)]
    ends = [*inner, last - closing]
    cells: list[RowCell] = []
    for start, end in zip(starts, ends, strict=True):
        bare = line[start:end].strip()
        begin = end - len(line[start:end].lstrip())
        cells.append(RowCell(bare.replace("\\|", "|"), begin, begin + len(bare)))
    return tuple(cells)


def row_header(text: str, start: int) -> tuple[str, ...]:
    """The cells of the first row of the table that the row at `start` belongs to; () for that row itself."""
    header = ""
    while start > 0:
        begin = text.rfind("\n", 0, start - 1) + 1
        if not is_row(line := text[begin:start]):
            break
        header, start = line, begin
    return tuple(cell.text for cell in row_cells(header)) if header else ()
