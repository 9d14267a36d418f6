"""How far an indexing run has come, and how long the rest may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from iterative_rag.protocols import DocumentSource

_PROGRESS_SECONDS = 0.1
# Before, a rate says little.
_FIRST_ESTIMATE = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of indexing; `total` and `seconds_left` are None while unknown. `questioned` are the passages that
    questions were written for."""

    documents: int
    total: int | None
    passages: int
    passages_per_second: float
    seconds_left: float | None
    questioned: int = 0


class ProgressMeter:
    """Counts what is taken and written, and shows it now and then."""

    def __init__(self, sources: Iterable[DocumentSource], show: Callable[[Progress], None] | None) -> None:
        self._show = show
        self._began = time.monotonic()
        self._shown = 0.0
        self._documents = self._taken = self._planned = self._questioned = 0
        # Counting takes a walk or a pass over the file, so it is done only if progress is shown.
        totals = [source.total for source in sources] if show else [None]
        self._total = None if None in totals else sum(total or 0 for total in totals)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def taken(self, passages: int) -> None:
        """A document was read that has so many passages to embed, perhaps none."""
        self._taken += 1
        self._planned += passages

    def questioned(self, passages: int) -> None:
        self._questioned += 1
        if self._show and self.seconds - self._shown >= _PROGRESS_SECONDS:
            self.show(passages)

    def document(self, passages: int) -> None:
        self._documents += 1
        if self._show and self.seconds - self._shown >= _PROGRESS_SECONDS:
            self.show(passages)

    def finished(self, passages: int) -> None:
        self._total = self._documents
        self.show(passages)

    def show(self, passages: int) -> None:
        if not self._show:
            return
        seconds = self._shown = self.seconds
        rate = passages / max(seconds, 1e-9)
        left = self._left(passages, seconds)
        self._show(Progress(self._documents, self._total, passages, rate, left, self._questioned))

    def _left(self, passages: int, seconds: float) -> float | None:
        """By passages, with an estimate of those in documents that are still to be read: one may hold nearly all."""
        if self._documents == self._total and passages >= self._planned:
            return 0.0
        if self._total is None or not self._taken or seconds < _FIRST_ESTIMATE:
            return None
        if not passages:
            return max(0.0, seconds / self._taken * (self._total - self._taken)) if not self._planned else None
        expected = self._planned / self._taken * max(self._total, self._taken)
        return max(0.0, seconds / passages * (expected - passages))
