"""An indexed corpus, opened for searching and reading."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any
from uuid import UUID

from iterative_rag import chunking
from iterative_rag.errors import CorpusError
from iterative_rag.index import reranking
from iterative_rag.index.documents import CatalogueEntry, DocumentStore, Points
from iterative_rag.index.faults import sqlite_errors
from iterative_rag.index.holding import hold
from iterative_rag.index.lock import CorpusLock
from iterative_rag.index.qdrant_edge import EdgePlace
from iterative_rag.index.store import Found, Place
from iterative_rag.protocols import Cache, Embedder, Reranker
from iterative_rag.types import Document, Hit, Passage

RRF_K = 60
# How far the length of a vector in single precision may be from 1.
NORM_TOLERANCE = 1e-3
# Each half of the hybrid query looks this deep at least, so that a passage both rank low can still win.
DEPTH = 100


class IndexedCorpus:
    """Implements protocols.Corpus; made by `Corpora.open`. Safe to use from several threads."""

    def __init__(
        self,
        name: str,
        folder: Path,
        store: DocumentStore,
        embedder: Embedder,
        *,
        cache: Cache | None = None,
        place: Place | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        self.name = name
        self.folder = folder
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._reranker = reranker
        meta = store.meta()
        vectors = place or EdgePlace(folder / "vectors")
        self._vectors = hold(
            vectors,
            folder,
            CorpusLock(folder, name),
            lambda: vectors.load(points=store.counts()[1], dimensions=embedder.dimensions, owner=store.identity()),
        )
        self._chunk_chars = int(meta["chunk_chars"])
        self._chunk_overlap = int(meta["chunk_overlap"])

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document does."""
        with sqlite_errors(self.folder, self.name):
            meta = self._store.meta()
        return f"{meta['created']}/{meta['revision']}"

    def digest(self) -> str:
        """A hash of the contents: the same for the same articles, wherever and whenever they were indexed."""
        with sqlite_errors(self.folder, self.name):
            return self._store.digest()

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25, fused by reciprocal rank.

        Raises CorpusHeld while another process writes the index.
        """
        return self._search(queries, limit)

    def points(self, document_ids: Collection[str]) -> list[Points]:
        """The points of those of the documents that are here."""
        with sqlite_errors(self.folder, self.name):
            return self._store.points(document_ids)

    def search_points(self, among: AbstractSet[UUID], queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """`search` in an index that holds no more than these points."""
        return self._search(queries, limit, among)

    def _search(self, queries: Sequence[str], limit: int, among: AbstractSet[UUID] | None = None) -> list[list[Hit]]:
        asked = [query for query in dict.fromkeys(queries) if query.strip()]
        if limit < 1 or not asked:
            return [[] for _ in queries]
        embedded = [(query, self._embed(query)) for query in asked]
        with sqlite_errors(self.folder, self.name):
            found = self._vectors.search(embedded, max(DEPTH, 2 * limit), among)
            ids = [one.document_id for halves in found for half in halves for one in half]
            current = self._store.versions(ids)
        hits = {query: self._best(query, halves, current)[:limit] for query, halves in zip(asked, found, strict=True)}
        return [list(hits.get(query, [])) for query in queries]

    def _best(
        self, query: str, halves: tuple[list[Found], list[Found]], current: dict[str, tuple[str, str]]
    ) -> list[Hit]:
        hits = _fuse(*halves, current)
        if self._reranker is None:
            return hits
        texts = [self.document(hit.document_id).text[hit.start : hit.end] for hit in hits[: reranking.DEPTH]]
        return reranking.reranked(hits, query, texts, self._reranker, RRF_K)

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when there is none of that id."""
        with sqlite_errors(self.folder, self.name):
            document = self._store.document(document_id)
        if document is None:
            raise CorpusError(
                f"The corpus {self.name!r} has no document {document_id!r}.", hint="It may have been removed just now."
            )
        return document

    def passages(self, document_id: str) -> list[Passage]:
        """The passages of a document as they were indexed."""
        return chunking.chunk(self.document(document_id), size=self._chunk_chars, overlap=self._chunk_overlap)

    def catalogue(self) -> list[CatalogueEntry]:
        """All documents without their texts, by title."""
        with sqlite_errors(self.folder, self.name):
            return self._store.catalogue()

    def titles(self) -> list[str]:
        """The titles of all documents, sorted; twice where two documents share one."""
        with sqlite_errors(self.folder, self.name):
            return [title for _, title in self._store.titles()]

    def find(self, title: str) -> list[Document]:
        """The documents of that title (case and underscores aside). Raises CorpusError naming the nearest titles."""
        with sqlite_errors(self.folder, self.name):
            titles = self._store.titles()
        found = [document_id for document_id, known in titles if _plain(known) == _plain(title)]
        if not found:
            by_plain = {_plain(known): known for _, known in titles}
            near = difflib.get_close_matches(_plain(title), by_plain, n=3, cutoff=0.5)
            near += [plain for plain in by_plain if _plain(title) in plain and plain not in near][: 5 - len(near)]
            names = ", ".join(repr(by_plain[plain]) for plain in near)
            raise CorpusError(
                f"The corpus {self.name!r} has no document titled {title!r}.",
                hint=f"Did you mean {names}?" if names else "Search for it: iterative-rag search WORDS",
            )
        return [self.document(document_id) for document_id in found]

    def close(self) -> None:
        self._vectors.close()
        self._store.close()

    def _embed(self, query: str) -> list[float]:
        """From the cache where it can: then a repeated question does not even load the model."""
        if self._cache is None:
            fresh: list[float] = self._embedder.embed_query(query).tolist()
            return fresh
        key = f"query-vector\n{self._embedder.name}\n{self._embedder.dimensions}\n{query}"
        kept = self._cache.get(key, self._checked_vector)
        if kept is not None:
            return kept
        vector: list[float] = self._embedder.embed_query(query).tolist()
        self._cache.put(key, vector)
        return vector

    def _checked_vector(self, value: Any) -> list[float]:
        """A unit vector of this embedder's dimensions. Raises ValueError."""
        if not isinstance(value, list) or len(value) != self._embedder.dimensions:
            raise ValueError("no vector of these dimensions")
        if not all(isinstance(number, float) for number in value):
            raise ValueError("no vector of numbers")
        if not abs(math.hypot(*value) - 1) < NORM_TOLERANCE:  # also where a number is infinite
            raise ValueError("no unit vector")
        return value


def _fuse(dense: Sequence[Found], sparse: Sequence[Found], current: dict[str, tuple[str, str]]) -> list[Hit]:
    """Reciprocal rank fusion (Cormack et al., 2009) of both halves, without passages of older versions."""
    ranks: dict[Found, list[int | None]] = {}
    for half, points in enumerate((dense, sparse)):
        fresh = [one for one in points if current.get(one.document_id, ("", ""))[0] == one.version]
        for rank, one in enumerate(fresh, start=1):
            ranks.setdefault(one, [None, None])[half] = rank
    hits = [
        Hit(
            one.document_id,
            current[one.document_id][1],
            one.start,
            one.end,
            sum(1 / (RRF_K + rank) for rank in both if rank),
            *both,
        )
        for one, both in ranks.items()
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.dense_rank or DEPTH * 10, hit.document_id, hit.start))
    return hits


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").split()).casefold()
