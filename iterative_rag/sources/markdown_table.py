"""Rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Sequence


def line(cells: Sequence[str]) -> str:
    """A row: each cell on one line, its bars escaped."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def rule(columns: int) -> str:
    """The line between the header and the rows."""
    return "|" + "---|" * max(1, columns)
