"""An indexed corpus, opened for searching and reading."""

from __future__ import annotations

import difflib
import threading
import time
from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import UUID

from iterative_rag import chunking
from iterative_rag.errors import CorpusDamaged, CorpusError
from iterative_rag.index.documents import CatalogueEntry, DocumentStore, Points
from iterative_rag.index.faults import DAMAGE_MARK, sqlite_errors
from iterative_rag.index.lock import CorpusLock
from iterative_rag.index.qdrant_edge import EdgeStore, Found
from iterative_rag.protocols import Cache, Embedder
from iterative_rag.types import Document, Hit, Passage

RRF_K = 60
# Each half of the hybrid query looks this deep at least, so that a passage both rank low can still win.
DEPTH = 100
# Loading takes most of a second at 150,000 passages: an idle shard is kept this long, or until a writer wants it.
IDLE_SECONDS = 10.0
_LOOK_SECONDS = 0.1


class IndexedCorpus:
    """Implements protocols.Corpus; made by `Corpora.open`. Safe to use from several threads."""

    def __init__(
        self, name: str, folder: Path, store: DocumentStore, embedder: Embedder, *, cache: Cache | None = None
    ) -> None:
        self.name = name
        self.folder = folder
        self._store = store
        self._embedder = embedder
        self._cache = cache
        self._shard = _SharedShard(folder / "vectors", CorpusLock(folder, name), lambda: store.counts()[1])
        meta = store.meta()
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
            found = self._shard.search(embedded, max(DEPTH, 2 * limit), among)
            ids = [one.document_id for halves in found for half in halves for one in half]
            current = self._store.versions(ids)
        hits = {query: _fuse(*halves, current, limit) for query, halves in zip(asked, found, strict=True)}
        return [list(hits.get(query, [])) for query in queries]

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
        self._shard.close()
        self._store.close()

    def _embed(self, query: str) -> list[float]:
        """From the cache where it can: then a repeated question does not even load the model."""
        if self._cache is None:
            fresh: list[float] = self._embedder.embed_query(query).tolist()
            return fresh
        key = f"query-vector\n{self._embedder.name}\n{self._embedder.dimensions}\n{query}"
        kept = self._cache.get(key)
        if isinstance(kept, list) and len(kept) == self._embedder.dimensions:
            return kept
        vector: list[float] = self._embedder.embed_query(query).tolist()
        self._cache.put(key, vector)
        return vector


class _SharedShard:
    """Loads the shard for the first search; lets go of it when it was idle for long or a writer waits for it."""

    def __init__(self, path: Path, lock: CorpusLock, points: Callable[[], int]) -> None:
        self._path = path
        self._lock = lock
        self._points = points  # how many there must be
        self._mutex = threading.Lock()
        self._held = ExitStack()
        self._store: EdgeStore | None = None
        self._last_used = 0.0

    def search(
        self, queries: Sequence[tuple[str, list[float]]], limit: int, among: AbstractSet[UUID] | None
    ) -> list[tuple[list[Found], list[Found]]]:
        with self._mutex:
            try:
                store = self._store or self._load()
                return store.search(queries, limit, among=among)
            except CorpusDamaged:
                with suppress(OSError):  # whoever reads only cannot leave a note, and the error is raised anyway
                    (self._path.parent / DAMAGE_MARK).touch()
                raise
            finally:
                self._last_used = time.monotonic()

    def close(self) -> None:
        with self._mutex:
            self._let_go()

    def _load(self) -> EdgeStore:
        with ExitStack() as stack:
            stack.enter_context(self._lock.reading())
            with self._lock.alone():
                store = EdgeStore.load(self._path, points=self._points())
            stack.callback(self._close_alone, store)
            self._held = stack.pop_all()
        self._store = store
        self._last_used = time.monotonic()
        threading.Thread(target=self._watch, name="index-watch", daemon=True).start()
        return store

    def _close_alone(self, store: EdgeStore) -> None:
        with self._lock.alone():
            store.close()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            with self._mutex:
                if self._store is None:
                    return
                if time.monotonic() - self._last_used > IDLE_SECONDS or self._lock.wanted():
                    self._let_go()
                    return

    def _let_go(self) -> None:
        if self._store is not None:
            self._store = None
            self._held.close()


def _fuse(
    dense: Sequence[Found], sparse: Sequence[Found], current: dict[str, tuple[str, str]], limit: int
) -> list[Hit]:
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
    return hits[:limit]


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").split()).casefold()
