"""How far an indexing run has come, and how long the rest may take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from iterative_rag.protocols import DocumentSource

_PROGRESS_SECONDS = 0.1
# Before, a rate says little: in seconds after the first passage was embedded.
_FIRST_ESTIMATE = 2.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of indexing; `total`, `seconds_left` and `expected` are None while unknown. `expected` are the
    passages that there will be, estimated from those of the documents read so far."""

    documents: int
    total: int | None
    passages: int
    passages_per_second: float
    seconds_left: float | None
    expected: float | None = None


class ProgressMeter:
    """Counts what is taken and written, and shows it now and then."""

    def __init__(self, sources: Iterable[DocumentSource], show: Callable[[Progress], None] | None) -> None:
        self._show = show
        self._began = time.monotonic()
        self._shown = 0.0
        self._first: tuple[float, int] | None = None  # when the first passages had been embedded, and how many
        self._documents = self._taken = self._planned = 0
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

    def document(self, passages: int) -> None:
        self._documents += 1
        if self.seconds - self._shown >= _PROGRESS_SECONDS:
            self.show(passages)

    def finished(self, passages: int) -> None:
        self._total = self._documents
        self.show(passages)

    def show(self, passages: int) -> None:
        if not self._show:
            return
        seconds = self._shown = self.seconds
        if passages and self._first is None:
            self._first = (seconds, passages)
        since, before = self._first or (seconds, passages)
        # Since the first were embedded: before, the embedder was loaded.
        rate = (passages - before) / (seconds - since) if seconds - since >= _FIRST_ESTIMATE else 0.0
        # One document may hold nearly all, so those to come count as the average.
        total = self._total and max(self._total, self._documents)
        expected = self._planned / self._taken * max(total, self._taken) if total and self._taken else None
        left = max(0.0, (expected - passages) / rate) if expected is not None and rate else None
        if self._documents == self._total and passages >= self._planned:
            left = 0.0
        self._show(Progress(self._documents, total, passages, rate or passages / max(seconds, 1e-9), left, expected))
