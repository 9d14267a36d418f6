"""A subset of an open corpus as a corpus: the paragraphs of one question, or its gold articles."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from uuid import UUID

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import Points
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.vector_store import point_ids
from iterative_rag.types import Document, Hit


class CorpusPart:
    """Implements protocols.Corpus. Ranks as an index of these documents alone would.

    It is open as long as the corpus that it was made from. Raises CorpusError when one of the documents is not there.
    """

    def __init__(self, whole: IndexedCorpus, document_ids: Collection[str]) -> None:
        self._whole = whole
        self._ids = frozenset(document_ids)
        self._known: tuple[list[Points], frozenset[UUID]] = ([], frozenset())
        missing = self._ids - {points.document_id for points in whole.points(self._ids)}
        if missing:
            raise CorpusError(
                f"The corpus {whole.name!r} has no document {min(missing)!r}.",
                hint="It may have been removed a moment ago.",
            )
        listing = "\n".join(sorted(self._ids))
        self._digest = hashlib.sha256(listing.encode()).hexdigest()[:16]

    @property
    def name(self) -> str:
        return self._whole.name

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document of the whole corpus does; differs from that of every other part."""
        return f"{self._whole.fingerprint}/{self._digest}"

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
        if not self._ids:
            return [[] for _ in queries]
        return self._whole.search_points(self._points(), queries, limit)

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when this part does not hold it."""
        if document_id not in self._ids:
            raise CorpusError(
                f"The document {document_id!r} of the corpus {self.name!r} does not belong to this part of it.",
                hint="Read only what a search of the part has found.",
            )
        return self._whole.document(document_id)

    def close(self) -> None:
        """Does nothing: the caller closes the whole corpus."""

    def _points(self) -> frozenset[UUID]:
        """The points of the current versions, cached until a document changes."""
        current = self._whole.points(self._ids)
        versions, ids = self._known
        if current != versions:
            ids = frozenset(point_ids(current))
            self._known = (current, ids)
        return ids
