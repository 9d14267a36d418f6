"""Spans of a text: offsets of its characters, the end left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[int, int]


def merged(spans: Iterable[Span], gap: int = 0) -> tuple[Span, ...]:
    """In order, those that touch, or lie at most `gap` characters apart, as one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1] + gap:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return tuple(joined)


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
