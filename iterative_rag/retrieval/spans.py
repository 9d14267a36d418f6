"""Spans of a text: offsets of its characters, the end left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def merged(spans: Iterable[Span], gap: int = 0) -> tuple[Span, ...]:
    """In order, those that touch, or lie at most `gap` characters apart, as one."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1] + gap:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def without(spans: Sequence[Span], read: Sequence[Span]) -> list[Span]:
    """What is left of spans where others are taken out."""
    left: list[Span] = []
    for start, end in spans:
        for first, last in read:
            if last <= start or first >= end:
                continue
            if first > start:
                left.append((start, first))
            start = max(start, last)
        if start < end:
            left.append((start, end))
    return left
