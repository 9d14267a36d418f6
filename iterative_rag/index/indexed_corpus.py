"""An indexed corpus, opened for searching and reading."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from iterative_rag.errors import CorpusError
from iterative_rag.index import rank_fusion
from iterative_rag.index.catalogue import CatalogueEntry, Points, ids_of_title, no_document
from iterative_rag.index.open_generation import OpenGeneration
from iterative_rag.index.rank_fusion import FUSION_K, Ranker
from iterative_rag.index.sqlite_errors import rebuild_command, sqlite_errors
from iterative_rag.index.vector_store import VectorStore, point_ids
from iterative_rag.types import Document, Hit


class Original(NamedTuple):
    """The document that stands for its copies."""

    id: str
    title: str


class Copies:
    """What searches have found: the first document of a text stands for those found after it.

    Only documents that a search has found are compared, and only those of equal size, so that a corpus without copies
    pays next to nothing. `described` gives the title, source and size of the documents that exist, `same` tells whether
    two hold the same text. Safe to use from several threads.
    """

    def __init__(
        self, described: Callable[[Sequence[str]], Mapping[str, tuple[str, str, int]]], same: Callable[[str, str], bool]
    ) -> None:
        self._described, self._same = described, same
        self._lock = threading.Lock()
        self._originals: dict[str, Original] = {}  # by the id of each document that was found
        self._by_size: dict[int, list[Original]] = {}
        self._sources: dict[str, list[str]] = {}  # of the copies, by the id of their original

    def learn(self, ids: Iterable[str]) -> None:
        """Take in documents that a search has found, best first."""
        with self._lock:
            new = [document_id for document_id in dict.fromkeys(ids) if document_id not in self._originals]
            described = self._described(new)
            for document_id in filter(described.__contains__, new):
                title, source, size = described[document_id]
                alike = self._by_size.setdefault(size, [])
                original = next((other for other in alike if self._same(document_id, other.id)), None)
                if original is None:
                    original = Original(document_id, title)
                    alike.append(original)
                else:
                    self._sources.setdefault(original.id, []).append(source)
                self._originals[document_id] = original

    def original(self, document_id: str) -> Original:
        """The document that stands for this one, which `learn` was told of."""
        return self._originals[document_id]

    def sources(self, document_id: str) -> tuple[str, ...]:
        """Where else the text of a document was found."""
        with self._lock:
            return tuple(self._sources.get(document_id, ()))


class IndexedCorpus:
    """Implements protocols.Corpus; made by `Corpora.open`. Safe to use from several threads.

    Each search looks at the newest generation, and documents are read as the last search saw them. `pinned` gives the
    same corpus as it is now and stays.
    """

    def __init__(self, seen: OpenGeneration, ranker: Ranker, *, follows: bool = True) -> None:
        """It takes over the generation that it begins with."""
        self.name, self.folder = seen.name, seen.folder
        self._ranker, self._follows = ranker, follows
        self._mutex = threading.Lock()
        self._seen: OpenGeneration | None = seen
        self._copies: tuple[int, Copies] | None = None  # with the number of the generation that they are of

    def pinned(self) -> IndexedCorpus:
        """The newest generation of this corpus, unaffected by later writing. Close it."""
        with self._newest() as seen:
            return IndexedCorpus(seen.kept(), self._ranker, follows=False)

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document does."""
        with self._newest() as seen:
            return f"{seen.about.created}/{seen.about.number}"

    @property
    def made_at(self) -> float:
        """When the first document was read for it, in seconds since the epoch."""
        with self._using() as seen:
            return datetime.fromisoformat(seen.about.created.rpartition("-")[0]).timestamp()

    @property
    def languages(self) -> dict[str, int]:
        """The number of documents in each language; {} where that is not known."""
        with self._using() as seen:
            return seen.languages

    @property
    def notice(self) -> str:
        """A sentence for the user if the corpus is incomplete; "" if it is complete."""
        with self._using() as seen:
            if not seen.incomplete:
                return ""
            documents = f"{seen.about.documents:,} document{'' if seen.about.documents == 1 else 's'}"
        return (
            f"The corpus {self.name!r} is not fully indexed (indexing is running, or was interrupted): "
            f"{documents} can be found so far. To finish it, type: {rebuild_command(self.name, self.folder)}"
        )

    def has(self, document_id: str) -> bool:
        return bool(self.points([document_id]))

    def digest(self) -> str:
        """A hash of the contents, independent of where and when the articles were indexed."""
        with self._newest() as seen:
            return seen.documents.digest()

    def points(self, document_ids: Collection[str]) -> list[Points]:
        """The points of the documents that exist."""
        with self._newest() as seen:
            return seen.documents.points(document_ids)

    def search(self, queries: Sequence[str], limit: int, among: AbstractSet[UUID] | None = None) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25, fused by reciprocal rank; `among` these points, as if
        the index held no others. Of documents that hold the same text, the one that was found first stands for all."""
        asked = [query for query in dict.fromkeys(queries) if query.strip()]
        if limit < 1 or not asked:
            return [[] for _ in queries]
        embedded = [(text, self._ranker.of(text)) for text in asked]
        with self._newest() as seen:
            vectors = seen.vectors()
            depth = max(rank_fusion.SEARCH_DEPTH, 2 * limit)
            results = vectors.search(embedded, depth, among=among, languages=seen.about.read_in)
            strangers = frozenset(point_ids(seen.strangers))
            fused = [fuse(*halves, strangers) for halves in results]
            told = _told(fused, self._ranker.needed(limit), vectors, seen, self._copies_in(seen))

            def text(hit: Hit) -> str:
                return self._read(hit.document_id, seen).text[hit.start : hit.end]

            hits = {query: self._ranker.reranked(query, best, text) for query, best in zip(asked, told, strict=True)}
        return [hits.get(query, [])[:limit] for query in queries]

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when there is none of that id. `copies` are those that searches have found so far."""
        with self._using() as seen:
            return replace(self._read(document_id, seen), copies=self._copies_in(seen).sources(document_id))

    def _copies_in(self, seen: OpenGeneration) -> Copies:
        view = seen.documents
        with self._mutex:
            if self._copies is None or self._copies[0] != view.number:
                self._copies = view.number, Copies(view.sizes, view.same_text)
            return self._copies[1]

    def _read(self, document_id: str, seen: OpenGeneration) -> Document:
        document = seen.documents.document(document_id)
        if document is None:
            raise no_document(self.name, document_id)
        return document

    def catalogue(self) -> list[CatalogueEntry]:
        """All documents without their texts, by title."""
        with self._newest() as seen:
            return seen.documents.catalogue()

    def listing(self, beginning: str, offset: int, limit: int) -> tuple[list[CatalogueEntry], int]:
        """The documents whose title begins so, `limit` from `offset` on, and how many there are."""
        entries = [entry for entry in self.catalogue() if entry.title.casefold().startswith(beginning.casefold())]
        return entries[offset : offset + limit], len(entries)

    def titles(self) -> list[str]:
        """The titles of all documents, sorted; twice where two documents share one."""
        with self._newest() as seen:
            return [title for _, title in seen.documents.titles()]

    def find(self, title: str) -> list[Document]:
        """The documents of that title (case and underscores aside). Raises CorpusError naming the nearest titles."""
        with self._newest() as seen:
            titles = seen.documents.titles()
        return [self.document(document_id) for document_id in ids_of_title(self.name, title, titles)]

    def close(self) -> None:
        with self._mutex:
            if self._seen is not None:
                self._seen.give_back()
                self._seen = None

    @contextmanager
    def _newest(self) -> Iterator[OpenGeneration]:
        """Switch to the newest generation."""
        with self._mutex:
            if self._follows and self._seen is not None:
                self._seen = self._seen.newest()
        with self._using() as seen:
            yield seen

    @contextmanager
    def _using(self) -> Iterator[OpenGeneration]:
        """The current generation, kept open while it is used."""
        with self._mutex:
            if self._seen is None:
                raise CorpusError(f"The corpus {self.name!r} was closed.", hint="Open it again.")
            seen = self._seen.kept()
        try:
            with sqlite_errors(self.folder, self.name):
                yield seen
        finally:
            seen.give_back()


@dataclass(frozen=True, slots=True)
class Fused:
    """A point with its ranks in both halves, from 1; None where a half did not find it."""

    point: UUID
    score: float
    dense_rank: int | None
    sparse_rank: int | None


def fuse(dense: Sequence[UUID], sparse: Sequence[UUID], strangers: AbstractSet[UUID] = frozenset()) -> list[Fused]:
    """Reciprocal rank fusion (Cormack et al., 2009) of both halves, best first, ignoring `strangers`."""
    ranks: dict[UUID, list[int | None]] = {}
    for half, points in enumerate((dense, sparse)):
        for rank, point in enumerate((point for point in points if point not in strangers), start=1):
            ranks.setdefault(point, [None, None])[half] = rank
    fused = [Fused(point, sum(1 / (FUSION_K + rank) for rank in both if rank), *both) for point, both in ranks.items()]
    # Ties are impossible within one half, so this order is total.
    fused.sort(key=lambda entry: (-entry.score, entry.dense_rank or len(ranks) + 1, entry.sparse_rank or 0))
    return fused


def _told(
    fused: Sequence[list[Fused]], limit: int, vectors: VectorStore, seen: OpenGeneration, copies: Copies
) -> list[list[Hit]]:
    """The first `limit` of each as passages of documents; what no document owns any more and what repeats the text of a
    better hit is left out."""
    hits: list[list[Hit]] = [[] for _ in fused]
    places: list[set[tuple[str, int, int]]] = [set() for _ in fused]
    for low in range(0, max(map(len, fused), default=0), limit):
        parts = [order[low : low + limit] if len(best) < limit else [] for order, best in zip(fused, hits, strict=True)]
        wanted = list(dict.fromkeys(entry.point for part in parts for entry in part))
        if not wanted:
            break
        passages = vectors.passages(wanted)
        current = seen.documents.versions(passage.document_id for passage in passages.values())
        owned = {point: held for point, held in passages.items() if current.get(held.document_id) == held.version}
        copies.learn(owned[point].document_id for point in wanted if point in owned)
        for part, best, taken in zip(parts, hits, places, strict=True):
            for entry in part:
                if (passage := owned.get(entry.point)) is None:
                    continue
                original = copies.original(passage.document_id)
                span = (original.id, passage.start, passage.end)
                if span not in taken:
                    taken.add(span)
                    ranks = entry.score, entry.dense_rank, entry.sparse_rank
                    best.append(Hit(original.id, original.title, passage.start, passage.end, *ranks))
    return [best[:limit] for best in hits]
