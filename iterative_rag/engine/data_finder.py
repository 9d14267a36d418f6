"""Finds the missing facts of one hop: shortlist, correction where it falls short, windows, reading, of all needs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass

from iterative_rag.correction.corrector import Corrector
from iterative_rag.correction.refinement import Refiner
from iterative_rag.errors import IterativeRAGError
from iterative_rag.protocols import Corpus
from iterative_rag.retrieval.document_reader import DocumentReader, NeedReading
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.retrieval.windows import window
from iterative_rag.settings import Settings
from iterative_rag.types import (
    Need,
    RefinementStep,
    ShortlistedDocument,
    ShortlistStep,
    Step,
    UnreadWindow,
    Window,
)

# How much further the second look at a need goes.
WIDER = 3

Shortlist = tuple[ShortlistedDocument, ...]


@dataclass(frozen=True, slots=True)
class HopFindings:
    """What one hop brought: the documents that were to be read for its needs, and what came of reading them. A need
    that was corrected stands there twice."""

    shortlists: tuple[Shortlist, ...]
    readings: tuple[NeedReading, ...]


class DataFinder:
    """The finder of one run: it knows which documents it has listed for a need.

    `corrective` and `refiner` are the parts that a strategy may add; None leaves the shortlist as it is.
    """

    def __init__(
        self,
        corpus: Corpus,
        reader: DocumentReader,
        settings: Settings,
        *,
        corrective: Corrector | None = None,
        refiner: Refiner | None = None,
    ) -> None:
        self._corpus, self._reader, self._settings = corpus, reader, settings
        self._corrective, self._refiner = corrective, refiner
        self._listed: dict[str, set[str]] = {}

    def find(
        self, hop: int, needs: Sequence[Need], *, wider: bool, seconds: Callable[[], float | None]
    ) -> Generator[Step, None, HopFindings]:
        """Steps as they happen; returns what was found. `wider` is the second look at needs that brought nothing.

        Reading may take `seconds()`, asked when it begins. After an error the needs can be looked for again.
        """
        listed = {need.question: set(self._listed.get(need.question, ())) for need in needs}
        try:
            return (yield from self._find(hop, needs, wider=wider, seconds=seconds))
        except IterativeRAGError:
            self._listed |= listed  # what was listed and not read must not pass for read
            raise

    def _find(
        self, hop: int, needs: Sequence[Need], *, wider: bool, seconds: Callable[[], float | None]
    ) -> Generator[Step, None, HopFindings]:
        shortlists = self.shortlist(needs, wider=wider)
        for need, documents in zip(needs, shortlists, strict=True):
            yield ShortlistStep(hop, need, documents, wider)
        if self._corrective:
            for place, (need, documents) in enumerate(zip(needs, shortlists, strict=True)):
                listed = self._listed[need.question]
                shortlists[place] = yield from self._corrective.improve(hop, need, documents, listed, barren=wider)
        readings = yield from self._read(hop, needs, shortlists, seconds)
        barren = [reading.need for reading in readings if not (reading.facts or reading.error or reading.cap)]
        if self._corrective and not self._corrective.grades and not wider and barren:
            # Without grades, nobody knew before reading that the shortlist falls short.
            more = []
            for need in barren:
                more.append(
                    (yield from self._corrective.improve(hop, need, (), self._listed[need.question], barren=True))
                )
            readings = (*readings, *(yield from self._read(hop, barren, more, seconds)))
            shortlists += more
        return HopFindings(tuple(shortlists), readings)

    def _read(
        self, hop: int, needs: Sequence[Need], shortlists: Sequence[Shortlist], seconds: Callable[[], float | None]
    ) -> Generator[Step, None, tuple[NeedReading, ...]]:
        """Reads the documents of each need."""
        tasks = []
        for need, documents in zip(needs, shortlists, strict=True):
            tasks.append((need, (yield from self._windows(hop, need, documents))))
        readings = self._reader.read(tasks, seconds=seconds())
        for reading in readings:
            yield reading.step(hop)
        return readings

    def read_again(
        self, hop: int, unread: Sequence[UnreadWindow], seconds: float | None
    ) -> Generator[Step, None, tuple[NeedReading, ...]]:
        """Windows that could not be read before, as they were; returns what came of each need."""
        windows: dict[Need, list[Window]] = {}
        for lost in unread:
            windows.setdefault(lost.need, []).append(lost.window)
        readings = self._reader.read(list(windows.items()), seconds=seconds)
        for reading in readings:
            yield reading.step(hop, again=True)
        return readings

    def shortlist(self, needs: Sequence[Need], *, wider: bool) -> list[Shortlist]:
        """The documents to read for each need; `wider` leaves out those that the first look has read."""
        settings, factor = self._settings, WIDER if wider else 1
        found = shortlist(
            self._corpus, needs, documents=settings.shortlist * factor, passages=settings.passages * factor
        )
        return [self._unlisted(need, documents) for need, documents in zip(needs, found, strict=True)]

    def _unlisted(self, need: Need, documents: Sequence[ShortlistedDocument]) -> Shortlist:
        listed = self._listed.setdefault(need.question, set())
        new = tuple(entry for entry in documents if entry.document_id not in listed)
        listed.update(entry.document_id for entry in new)
        return new

    def _windows(self, hop: int, need: Need, documents: Shortlist) -> Generator[Step, None, list[Window]]:
        """What is read of each document; only the strips that serve the need where there is a refiner."""
        size = self._settings.window_chars
        windows = [window(self._corpus.document(entry.document_id), entry, size) for entry in documents]
        if self._refiner is None or not windows:
            return windows
        refined = self._refiner.refine(need, windows)
        yield RefinementStep(hop, need, refined.kept, refined.dropped)
        return list(refined.windows)
