"""What stands between a corpus and the store of its vectors.

Two adapters implement them: `edge_store.py` (in this process, one folder) and `server/server_store.py` (a server or a
cluster). Both hold the same points under the same ids and rank alike.
"""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from iterative_rag.errors import CorpusDamaged, UsageError
from iterative_rag.index.catalogue import Points
from iterative_rag.index.generation_pins import Pin
from iterative_rag.index.sparse import Sparse, bm25_document, bm25_query
from iterative_rag.protocols import Vectors
from iterative_rag.registry import STORES
from iterative_rag.retrieval.analysers import ENGLISH

DENSE, SPARSE = "dense", "bm25"
# The name of the embedded index among the places of vectors.
LOCAL = "local"
# The folder of the embedded index within that of the corpus.
VECTORS = "vectors"
# Up to here both halves are exact: every vector is compared, and BM25's document frequencies are counted over the
# points that are there. Beyond it the engine's own shortcuts are taken: on a server graphs, and frequencies that still
# count deleted points until it tidies up. Counting costs about 20 ms for a million points and query.
EXACT_POINTS = 200_000
# Points requested beyond the limit, so that ties at the limit are not broken by the store.
SPARE = 50
# Sums of some dozen float32 products agree to about a tenth of this.
_EQUAL = 2e-6
_PLACE = ("document", "version", "start", "end")  # keys of a payload
_NAMESPACE = uuid.UUID("5b3c0c6e-7d0b-5f0e-9c0a-6d1f3f3e2a10")


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """A passage to index: its place, the text that is embedded, and the language that BM25 reads its words in."""

    document_id: str
    version: str
    ordinal: int
    start: int
    end: int
    embedded_text: str
    language: str = ENGLISH


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """The place of a passage: a version of a document, and character offsets."""

    document_id: str
    version: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point with its vectors, and the place of its passage, as the engines store it."""

    id: uuid.UUID
    payload: dict[str, str | int]
    dense: list[float]
    sparse: Sparse


class VectorStore(ABC):
    """The open points of one corpus. Safe to search from several threads; one may write. What is written or deleted is
    durable when the call returns. Raises only CorpusError and its subclasses."""

    @abstractmethod
    def count(self) -> int: ...

    @abstractmethod
    def put(self, points: Sequence[StoredPoint]) -> None:
        """Store points; existing ones are replaced."""

    @abstractmethod
    def drop(self, ids: Sequence[uuid.UUID]) -> None:
        """Remove points; missing ones are no error."""

    @abstractmethod
    def retrieve(self, ids: Sequence[uuid.UUID], *, payload: bool = False) -> Sequence[Any]:
        """The engine's records of the points that exist, in any order."""

    @abstractmethod
    def nearest(
        self, wanted: Sequence[list[float] | Sparse], limit: int, among: AbstractSet[uuid.UUID] | None
    ) -> Sequence[Sequence[Any]]:
        """The engine's scored points for each dense vector (a list) and each sparse one (a pair), all in one call."""

    @abstractmethod
    def close(self) -> None: ...

    def search(
        self,
        queries: Sequence[tuple[str, list[float]]],
        limit: int,
        *,
        among: AbstractSet[uuid.UUID] | None = None,
        languages: Sequence[str] = (ENGLISH,),
    ) -> list[tuple[list[uuid.UUID], list[uuid.UUID]]]:
        """For each (text, unit vector): what the dense half and what BM25 found, up to `limit` each, as `ranked` does.

        `among` leaves all points out but these, also from BM25's document frequencies: they rank as in a store of
        their own. `languages` are those of the points, in which BM25 reads the queries.
        """
        halves: list[list[float] | Sparse] = []
        for text, vector in queries:
            halves += [vector, bm25_query(text, tuple(languages))]
        asked = [at for at, half in enumerate(halves) if at % 2 == 0 or half[0]]  # not for stop words alone
        results: list[list[uuid.UUID]] = [[] for _ in halves]
        answers = self.nearest([halves[at] for at in asked], limit + SPARE, among) if asked else []
        for at, points in zip(asked, answers, strict=True):
            results[at] = ranked(((point.score, point_uuid(point.id)) for point in points), limit)
        return list(zip(results[::2], results[1::2], strict=True))

    def write(self, points: Sequence[VectorPoint], vectors: Vectors) -> None:
        """Store passages with their embeddings, and the BM25 vectors made here; existing points are replaced."""
        rows = []
        for point, vector in zip(points, vectors.tolist(), strict=True):
            place: tuple[str | int, ...] = (point.document_id, point.version, point.start, point.end)
            name = point_id(point.document_id, point.version, point.ordinal)
            sparse = bm25_document(point.embedded_text, point.language)
            rows.append(StoredPoint(name, dict(zip(_PLACE, place, strict=True)), vector, sparse))
        self.put(rows)

    def delete(self, points: Sequence[Points]) -> None:
        """Remove versions of documents; missing points are no error."""
        self.drop(list(point_ids(points)))

    def held(self, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
        """Which of the points exist."""
        return {point_uuid(record.id) for record in self.retrieve(ids)}

    def passages(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, PassagePlace]:
        """The places of the points that exist."""
        held = {point_uuid(point.id): point.payload or {} for point in self.retrieve(ids, payload=True)}
        try:
            return {point: PassagePlace(*(place[key] for key in _PLACE)) for point, place in held.items()}
        except KeyError as error:
            raise CorpusDamaged("A passage of the index has lost its place.") from error


class Place(ABC):
    """Where the vectors of one corpus are kept, whether they exist yet or not.

    Either it is `shared`, as here: there are no generations, and readers see every change at once. Or it keeps
    generations apart, of which `published` is the number of the newest (0 for none): then what is written becomes the
    next one.
    """

    # `local`, or the address of the server and the collection. Never holds a key.
    name: str
    # The value of `--index` that selects it.
    option: str
    shared = True

    def pin(self, generation: int) -> Pin | ExitStack:
        """Keep this generation until the pin is closed. Raises FileNotFoundError if it is gone."""
        return ExitStack()

    @abstractmethod
    def load(self, generation: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> VectorStore:
        """Open it for reading. Raises CorpusDamaged when it holds less than so many points, CorpusMismatch when it is
        another's or of other dimensions (0 and "": whatever they are)."""

    @abstractmethod
    def create(self, dimensions: int, owner: str, *, published: int = 0) -> None:
        """Make it, empty, in place of whatever the corpus of this identity (`owner`) had there; what is published stays
        until that is replaced."""

    def begun(self, published: int) -> bool:
        """Whether anything was written since this generation, by this run or one that was killed."""
        return False

    def work(self, published: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> VectorStore:
        """Open it for writing. Raises what `load` does."""
        return self.load(published, points=points, dimensions=dimensions, owner=owner)

    def publish(self, published: int, dimensions: int, *, last: bool) -> None:  # noqa: B027 - nothing to do if shared
        """Close what was opened by `work` and make it the next generation; `last` where no other follows soon."""

    def retire(self, published: int) -> int:
        """Remove older generations without readers; returns the number of the oldest that is left."""
        return published

    @abstractmethod
    def remove(self, owner: str) -> None:
        """Remove all of it, except what belongs to another corpus."""


# The place of a corpus, by its name and the folder that holds its documents.
PlaceOf: TypeAlias = Callable[[str, Path], Place]


def point_id(document_id: str, version: str, ordinal: int) -> uuid.UUID:
    """A passage of a version has the same id in every run and store."""
    return uuid.uuid5(_NAMESPACE, f"{document_id}\n{version}\n{ordinal}")


def point_ids(points: Iterable[Points]) -> Iterator[uuid.UUID]:
    return (
        point_id(group.document_id, group.version, ordinal) for group in points for ordinal in range(group.passages)
    )


def point_uuid(point: object) -> uuid.UUID:
    """The id of a point as the engines give it: a UUID, a text or a number."""
    if isinstance(point, uuid.UUID):
        return point
    return uuid.UUID(int=point) if isinstance(point, int) else uuid.UUID(str(point))


def ranked(scored: Iterable[tuple[float, uuid.UUID]], limit: int) -> list[uuid.UUID]:
    """The best `limit`, best first, out of `limit` + SPARE where there are so many.

    Scores that differ by rounding alone are equal, and equals are ordered by id: so that two stores which add up in
    another order, or keep their points in another, rank alike.
    """
    groups: list[list[uuid.UUID]] = []
    before = 0.0
    for score, point in sorted(scored, key=lambda pair: -pair[0]):
        if not groups or before - score > _EQUAL * abs(before):
            groups.append([])
        groups[-1].append(point)
        before = score
    return list(islice((point for group in groups for point in sorted(group)), limit))


def places_at(address: str) -> PlaceOf:
    """The store is chosen by the scheme of the address; "" is `local`. Raises UsageError, and calls no server."""
    address = address.strip() or LOCAL
    scheme, separator, _ = address.partition("://")
    entry = STORES.get(scheme.lower())
    if entry is None or bool(separator) != ("://" in entry.form):
        # Not echoed in full: there may be a password before "@".
        raise UsageError(f"--index cannot be {address.split('@')[-1][:60]!r}.", hint=f"Use {STORES.forms}.")
    build: Callable[[str], PlaceOf] = STORES.load(entry.name)
    return build(address)
