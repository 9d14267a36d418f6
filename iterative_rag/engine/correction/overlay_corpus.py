"""A corpus together with the documents that were fetched from elsewhere during one run."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

from iterative_rag.protocols import Corpus
from iterative_rag.types import Document, Hit


class OverlayCorpus:
    """The corpus of one run. Fetched documents can be read like any others; `search` does not find them.

    Safe to use from several threads.
    """

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._fetched: dict[str, Document] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._corpus.name

    @property
    def fingerprint(self) -> str:
        """That of the corpus: fetched documents last no longer than the run."""
        return self._corpus.fingerprint

    def add(self, documents: Iterable[Document]) -> None:
        """A document replaces one of the same id. None of the corpus is hidden: ids of pages are content hashes."""
        with self._lock:
            self._fetched |= {document.id: document for document in documents}

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return self._corpus.search(queries, limit)

    def document(self, document_id: str) -> Document:
        with self._lock:
            found = self._fetched.get(document_id)
        return self._corpus.document(document_id) if found is None else found

    def close(self) -> None:
        """Forget the fetched documents. The corpus stays open: its owner closes it."""
        with self._lock:
            self._fetched.clear()
