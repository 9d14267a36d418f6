"""A corpus and, beside it, the documents that were gathered from elsewhere during one run."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.types import Document, Hit


class OverlayCorpus:
    """The corpus of one run. What is gathered can be read like any document; the search does not know it.

    Safe to use from several threads.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._gathered: dict[str, Document] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._corpus.name

    @property
    def fingerprint(self) -> str:
        """That of the corpus: what is gathered lasts no longer than the run."""
        return self._corpus.fingerprint

    def add(self, documents: Iterable[Document]) -> None:
        """A document replaces one of the same id. No id of the corpus is hidden: ids of pages name their content."""
        with self._lock:
            self._gathered |= {document.id: document for document in documents}

    def gathered(self) -> tuple[Document, ...]:
        """What was added so far, in that order."""
        with self._lock:
            return tuple(self._gathered.values())

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return self._corpus.search(queries, limit)

    def document(self, document_id: str) -> Document:
        with self._lock:
            found = self._gathered.get(document_id)
        return self._corpus.document(document_id) if found is None else found

    def close(self) -> None:
        """Forgets what was gathered. The corpus stays open: it belongs to whoever opened it."""
        with self._lock:
            self._gathered.clear()
