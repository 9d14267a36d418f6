"""Parts of an open corpus as corpora: the paragraphs of one question, or what a question is kept to."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from uuid import UUID

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import Points, no_document
from iterative_rag.index.filters import selection
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.vector_store import point_ids
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document, Hit, Within


class CorpusPart:
    """Implements protocols.Corpus. Ranks as an index of these documents alone would.

    It is open as long as the corpus that it was made from. Raises CorpusError when one of the documents is not there.
    """

    def __init__(self, whole: IndexedCorpus, document_ids: Collection[str]) -> None:
        self._whole = whole
        self._ids = frozenset(document_ids)
        self._known: tuple[list[Points], AbstractSet[UUID]] = ([], frozenset())
        self._asked = "\n".join(sorted(self._ids))
        missing = self._ids - {points.document_id for points in whole.points(self._ids)}
        if missing:
            raise no_document(whole.name, min(missing))

    @property
    def name(self) -> str:
        return self._whole.name

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document of the whole corpus does; differs from that of every other part."""
        return f"{self._whole.fingerprint}/{hashlib.sha256(self._asked.encode()).hexdigest()[:16]}"

    @property
    def made_at(self) -> float:
        """When the whole corpus was made."""
        return self._whole.made_at

    @property
    def languages(self) -> dict[str, int]:
        """Those of the whole corpus, as far as they are known."""
        return self._whole.languages

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25, fused by reciprocal rank."""
        return self._whole.search(queries, limit, self._points()) if self._ids else [[] for _ in queries]

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when this part does not hold it."""
        if document_id not in self._ids:
            raise CorpusError(
                f"The document {document_id!r} of the corpus {self.name!r} does not belong to the part that was asked.",
                hint="Ask a larger part, or read only what a search of this one has found.",
            )
        return self._whole.document(document_id)

    def close(self) -> None:
        """Does nothing: the caller closes the whole corpus."""

    def _points(self) -> AbstractSet[UUID]:
        """The points of the current versions, cached until a document changes."""
        current = self._whole.points(self._ids)
        if current != self._known[0]:
            self._known = (current, frozenset(point_ids(current)))
        return self._known[1]


class CorpusWithin(CorpusPart):
    """What of a corpus is within all of these. `whole` is pinned. Raises NothingWithin where nothing is within."""

    def __init__(self, whole: IndexedCorpus, wanted: Sequence[Within]) -> None:
        self._selection = selection(whole, wanted)
        super().__init__(whole, self._selection.documents)
        self._wanted, self._asked = tuple(wanted), repr(tuple(wanted))

    @property
    def notice(self) -> str:
        """Sentences for the user: that this is a part, and whether the corpus is incomplete."""
        chosen, every = len(self._ids), counted(self._selection.of, "document")
        typed = " ".join(str(within) for within in self._wanted if within)
        told = [f"Only a part of the corpus was searched: {typed} ({chosen:,} of {every})."]
        if self._selection.undated:
            told.append(f"Left out for having no date: {counted(self._selection.undated, 'document')}.")
        return " ".join(filter(None, [*told, self._whole.notice]))

    def titles(self) -> list[str]:
        """The titles of the documents in this part, sorted; twice where two documents share one."""
        return list(self._selection.titles)
