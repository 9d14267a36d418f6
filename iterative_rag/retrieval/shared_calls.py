"""One extraction call for several documents: what goes into it, and which document each quote is from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.retrieval.quote_verification import locate
from iterative_rag.types import Extract, Window


def fitting(windows: Sequence[Window], most: int, chars: int) -> int:
    """How many of the first windows go into one call of at most `most` windows and `chars` characters; one always
    does."""
    total = count = 0
    for window in windows[:most]:
        total += len(window.text)
        if count and total > chars:
            break
        count += 1
    return count


def placed(extracts: Sequence[Extract], windows: Sequence[Window]) -> tuple[Extract, ...]:
    """The extracts with the window in which their quote stands. One that stands in none stays with its window, else the
    first, where it is dropped as unproved."""
    return tuple(replace(extract, window=_window_of(extract, windows)) for extract in extracts)


def _window_of(extract: Extract, windows: Sequence[Window]) -> int:
    named = extract.window if 0 <= extract.window < len(windows) else 0
    order = [named, *(n for n in range(len(windows)) if n != named)]
    return next((n for n in order if _stands(extract.quote, windows[n])), named)


def _stands(quote: str, window: Window) -> bool:
    return locate(quote, window.text, [(0, len(window.text))]) is not None
