"""What an index needs of whatever keeps its points: the seam between a corpus and its vectors.

Two adapters fit: `qdrant_edge.py` (in this process, one folder) and `server/store.py` (a server or a cluster). Both
hold the same points under the same ids; ranks are made equal here, so that neither shows in a result.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

from iterative_rag.index.catalogue import Points
from iterative_rag.index.sparse import Sparse, bm25_document
from iterative_rag.protocols import Vectors

DENSE, SPARSE = "dense", "bm25"
# The name of the embedded index among the places where vectors may lie.
LOCAL = "local"
# Up to here both halves are exact: every vector is compared, and BM25's document frequencies are counted over the
# points that are there. Beyond it the engine's own shortcuts are taken: on a server graphs, and frequencies that still
# count deleted points until it tidies up. Counting costs about 20 ms for a million points and query.
EXACT_POINTS = 200_000
# Points that are asked for beyond the limit: which of some equals at the limit come first is not left to a store.
SPARE = 50
# Sums of some dozen float32 products agree to about a tenth of this.
_EQUAL = 2e-6
_NAMESPACE = uuid.UUID("5b3c0c6e-7d0b-5f0e-9c0a-6d1f3f3e2a10")


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """A passage as it is indexed: where it lies, and what BM25 sees of it."""

    document_id: str
    version: str
    ordinal: int
    start: int
    end: int
    embedded_text: str


@dataclass(frozen=True, slots=True)
class PassagePlace:
    """What a point stands for: a passage of a version of a document, by its characters."""

    document_id: str
    version: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class StoredPoint:
    """A point as a store holds it: what a copy in another store needs."""

    id: uuid.UUID
    passage: PassagePlace
    dense: list[float]
    sparse: Sparse

    @property
    def payload(self) -> dict[str, str | int]:
        one = self.passage
        return {"document": one.document_id, "version": one.version, "start": one.start, "end": one.end}


class VectorStore(Protocol):
    """The open points of one corpus. Safe to search from several threads; one may write.

    What is written or deleted is durable when the call returns. Raises CorpusError and its kin only.
    """

    def count(self) -> int: ...

    def write(self, points: Sequence[VectorPoint], vectors: Vectors) -> None:
        """Store passages with their embeddings; points that are there already are replaced."""
        ...

    def put(self, points: Sequence[StoredPoint]) -> None:
        """The same with points out of another store."""
        ...

    def delete(self, points: Sequence[Points]) -> None:
        """Remove versions of documents; points that are not there are no error."""
        ...

    def drop(self, ids: Sequence[uuid.UUID]) -> None:
        """Remove single points."""
        ...

    def held(self, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
        """Which of the points are there."""
        ...

    def read(self, ids: Sequence[uuid.UUID]) -> list[StoredPoint]:
        """Those of the points that are there, in any order."""
        ...

    def search(
        self, queries: Sequence[tuple[str, list[float]]], limit: int, *, among: AbstractSet[uuid.UUID] | None = None
    ) -> list[tuple[list[uuid.UUID], list[uuid.UUID]]]:
        """For each (text, unit vector): what the dense half and what BM25 found, up to `limit` each, as `ranked` does.

        `among` leaves all points out but these, also from BM25's document frequencies: they rank as in a store of
        their own.
        """
        ...

    def passages(self, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, PassagePlace]:
        """What those of the points that are there stand for."""
        ...

    def ids(self) -> set[uuid.UUID]:
        """The ids of all points (for checks and repair)."""
        ...

    def close(self) -> None: ...


class Pinned(Protocol):
    """What keeps a generation from being removed."""

    def close(self) -> None: ...


class Place(Protocol):
    """Where the vectors of one corpus lie, whether they are there yet or not.

    Either it keeps generations apart, of which `published` is the number of the newest (0 for none): then what is
    written becomes the next one. Or it is `shared`: there are no generations, and readers see every change at once.
    """

    @property
    def name(self) -> str:
        """`local`, or the address of the server and the collection. Never holds a key."""
        ...

    @property
    def shared(self) -> bool: ...

    @property
    def option(self) -> str:
        """What to type to use it: the value of `--index`."""
        ...

    def exists(self) -> bool: ...

    def pin(self, generation: int) -> Pinned:
        """Keep this generation until the pin is closed. Raises FileNotFoundError when it is gone."""
        ...

    def load(self, generation: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> VectorStore:
        """Open it for reading. Raises CorpusDamaged when it holds less than so many points, CorpusMismatch when it is
        another's or of other dimensions (0 and "": whatever they are)."""
        ...

    def create(self, dimensions: int, owner: str, *, published: int = 0) -> None:
        """Make it, empty, in place of whatever the corpus of this identity (`owner`) had there; what is published stays
        until that is replaced."""
        ...

    def begun(self, published: int) -> bool:
        """Whether there is something written since this generation, by this run or one that was killed."""
        ...

    def work(self, published: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> VectorStore:
        """Open it for writing. Raises what `load` does."""
        ...

    def publish(self, published: int, dimensions: int, *, last: bool) -> None:
        """Close what was opened by `work` and make it the next generation; `last` where no other follows soon."""
        ...

    def retire(self, published: int) -> int:
        """Remove older generations unless somebody reads them; the number of the oldest that is left."""
        ...

    def remove(self, owner: str) -> None:
        """Nothing is left of it. What belongs to another corpus stays."""
        ...


def point_id(document_id: str, version: str, ordinal: int) -> uuid.UUID:
    """The same passage of the same version has the same id in every run and store."""
    return uuid.uuid5(_NAMESPACE, f"{document_id}\n{version}\n{ordinal}")


def point_ids(points: Iterable[Points]) -> Iterator[uuid.UUID]:
    return (point_id(one.document_id, one.version, ordinal) for one in points for ordinal in range(one.passages))


def stored(points: Sequence[VectorPoint], vectors: Vectors) -> list[StoredPoint]:
    """Passages and their embeddings as points; their BM25 vectors are made here."""
    return [
        StoredPoint(
            point_id(one.document_id, one.version, one.ordinal),
            PassagePlace(one.document_id, one.version, one.start, one.end),
            vector,
            bm25_document(one.embedded_text),
        )
        for one, vector in zip(points, vectors.tolist(), strict=True)
    ]


def ranked(scored: Iterable[tuple[float, uuid.UUID]], limit: int) -> list[uuid.UUID]:
    """The best `limit`, best first, out of `limit` + SPARE where there are so many.

    Scores that differ by rounding alone are equal, and equals are ordered by id: so that two stores which add up in
    another order, or keep their points in another, rank alike.
    """
    groups: list[list[uuid.UUID]] = []
    before = 0.0
    for score, point in sorted(scored, key=lambda one: -one[0]):
        if not groups or before - score > _EQUAL * abs(before):
            groups.append([])
        groups[-1].append(point)
        before = score
    return list(islice((point for group in groups for point in sorted(group)), limit))
