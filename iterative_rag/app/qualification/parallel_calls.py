"""Measures whether a server works on several calls at once: the same calls one after another, and together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from iterative_rag.protocols import Extractor
from iterative_rag.types import Need, Window

# How many calls are made together, and how much faster than one after another they have to be to count as parallel.
TOGETHER = 4
GAIN = 1.4
_TEXT = "The store of Brisk is numbered {n}. It was opened in 19{n:02d} and sells rope, lamps and tar."


@dataclass(frozen=True, slots=True)
class ParallelCalls:
    """Seconds of two calls one after another and of two at once, and the calls in flight that pay off."""

    one_by_one: float
    at_once: float
    in_flight: int

    @property
    def gain(self) -> float:
        return self.one_by_one / max(self.at_once, 1e-9)


def measure(extractor: Extractor) -> ParallelCalls:
    """Eight short calls at most. Raises LLMError."""
    one_by_one = sum(_seconds(extractor, [n]) for n in (11, 12))
    at_once = _seconds(extractor, [21, 22])
    if one_by_one / max(at_once, 1e-9) < GAIN:
        return ParallelCalls(one_by_one, at_once, 1)
    four = _seconds(extractor, range(31, 31 + TOGETHER))
    scales = 2 * at_once / max(four, 1e-9) >= GAIN
    return ParallelCalls(one_by_one, at_once, TOGETHER if scales else 2)


def _seconds(extractor: Extractor, numbers: Sequence[int]) -> float:
    started = time.monotonic()
    with ThreadPoolExecutor(len(numbers)) as pool:
        list(pool.map(lambda n: _call(extractor, n), numbers))
    return time.monotonic() - started


def _call(extractor: Extractor, n: int) -> None:
    text = _TEXT.format(n=n)
    need, window = Need(f"When was store {n} of Brisk opened?"), Window("store", "Store", "store.md", (), text)
    extractor.extract([need], [window], "")
