"""Finds the missing facts of one hop: shortlist, windows, reading, all needs at once."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.agent.reading import Reader, Reading
from iterative_rag.agent.shortlist import shortlist
from iterative_rag.agent.windows import window
from iterative_rag.protocols import Corpus
from iterative_rag.settings import Settings
from iterative_rag.types import Need, ShortlistedDocument

# How much further the second look at a need goes.
WIDER = 3


class DataFinder:
    """The finder of one run: it knows which documents it has listed for a need."""

    def __init__(self, corpus: Corpus, reader: Reader, settings: Settings) -> None:
        self._corpus, self._reader, self._settings = corpus, reader, settings
        self._listed: dict[str, set[str]] = {}

    def shortlist(self, needs: Sequence[Need], *, wider: bool) -> list[tuple[ShortlistedDocument, ...]]:
        """The documents to read for each need; `wider` leaves out those that the first look has read."""
        settings, factor = self._settings, WIDER if wider else 1
        found = shortlist(
            self._corpus, needs, documents=settings.shortlist * factor, passages=settings.passages * factor
        )
        return [self._unlisted(need, documents) for need, documents in zip(needs, found, strict=True)]

    def _unlisted(self, need: Need, documents: Sequence[ShortlistedDocument]) -> tuple[ShortlistedDocument, ...]:
        listed = self._listed.setdefault(need.question, set())
        new = tuple(entry for entry in documents if entry.document_id not in listed)
        listed.update(entry.document_id for entry in new)
        return new

    def read(
        self,
        needs: Sequence[Need],
        documents: Sequence[Sequence[ShortlistedDocument]],
        *,
        seconds: float | None,
    ) -> tuple[Reading, ...]:
        size = self._settings.window_chars
        tasks = [
            (need, [window(self._corpus.document(entry.document_id), entry, size) for entry in entries])
            for need, entries in zip(needs, documents, strict=True)
        ]
        return self._reader.read(tasks, seconds=seconds)
