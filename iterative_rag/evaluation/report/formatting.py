"""Formats numbers and texts for reports."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.text.control_characters import one_line

NOTHING = "–"


def visible(text: str, limit: int | None = None) -> str:
    """The text on one line, with what cannot or must not be shown replaced, cut after `limit` characters."""
    line = one_line(text)
    return line if limit is None or len(line) <= limit else line[: max(0, limit - 1)].rstrip() + "…"


def percent(share: float | None) -> str:
    return NOTHING if share is None else f"{100 * share:.1f}\u00a0%"


def percent_range(interval: Sequence[float] | None) -> str:
    return NOTHING if interval is None else f"{100 * interval[0]:.1f} – {100 * interval[1]:.1f}"


def points(difference: float) -> str:
    """A difference of shares in percentage points, with its sign."""
    return f"{100 * difference:+.1f}"


def points_range(interval: Sequence[float]) -> str:
    return f"{points(interval[0])} … {points(interval[1])}"


def number(value: float | None) -> str:
    """Three significant digits: 12,345 · 123 · 12.3 · 1.23."""
    if value is None:
        return NOTHING
    digits = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def dollars(value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.2g}" if value >= 1e-4 else f"${value:.1e}"


def probability(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
