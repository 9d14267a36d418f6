"""A row as text, for a network or an embedder: "Year: 1987 | Venue: Birmingham"."""

from __future__ import annotations

from collections.abc import Sequence


def row_text(header: Sequence[str], cells: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """A row with the names of its columns, and where each cell stands in that text. Networks are trained on this form:
    scripts/train/evidence/tables.py."""
    text, places = "", []
    for number, cell in enumerate(cells):
        name = header[number] if number < len(header) else ""
        text += (" | " if text else "") + (f"{name}: " if name else "")
        places.append((len(text), len(text) + len(cell)))
        text += cell
    return text, places
