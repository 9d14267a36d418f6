"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def line(cells: Sequence[str]) -> str:
    """A row: each cell on one line, its bars escaped."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def table(head: Sequence[str], lines: Iterable[str]) -> str:
    """A table of a header and rows that are written already."""
    return "\n".join([line(head), "|" + "---|" * max(1, len(head)), *lines])
