"""The vector store: a Qdrant Edge shard of dense and BM25 vectors. The only file that knows Edge.

The shard is made without a write-ahead log: `write` and `delete` flush instead, and several readers may
load it at once (a log can be opened by one process only). Who may load it when is `lock.py`'s affair.
Edge raises bare `Exception`s; here is the boundary where they become CorpusErrors.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import CorpusDamaged, CorpusError
from iterative_rag.index.documents import Points
from iterative_rag.index.faults import disk_full
from iterative_rag.index.sparse import bm25_document, bm25_query
from iterative_rag.protocols import Vectors

if TYPE_CHECKING:
    from qdrant_edge import EdgeShard, QueryRequest, ScoredPoint

DENSE, SPARSE = "dense", "bm25"
_NAMESPACE = uuid.UUID("5b3c0c6e-7d0b-5f0e-9c0a-6d1f3f3e2a10")
# No memory, no permission, too many open files: the files may well be whole.
_NOT_ITS_FAULT = re.compile(r"\bos error (?:12|13|23|24)\b")
_DISK_FULL = ("no space left", "os error 28", "disk quota")


@dataclass(frozen=True, slots=True)
class VectorPoint:
    """A passage as it is stored: where it lies, and what BM25 sees of it."""

    document_id: str
    version: str
    ordinal: int
    start: int
    end: int
    embedded_text: str


@dataclass(frozen=True, slots=True)
class Found:
    """A passage that one half of a query found, best first."""

    document_id: str
    version: str
    start: int
    end: int


def point_id(document_id: str, version: str, ordinal: int) -> uuid.UUID:
    """The same passage of the same version has the same id in every run and store."""
    return uuid.uuid5(_NAMESPACE, f"{document_id}\n{version}\n{ordinal}")


class EdgeStore:
    """An open shard. Close it; two threads may search it at once, one may write."""

    def __init__(self, path: Path, shard: EdgeShard) -> None:
        self.path = path
        self._shard = shard

    @classmethod
    def create(cls, path: Path, dimensions: int) -> EdgeStore:
        from qdrant_edge import Distance, EdgeConfig, EdgeShard, EdgeSparseVectorParams, EdgeVectorParams, Modifier

        config = EdgeConfig(
            vectors={DENSE: EdgeVectorParams(size=dimensions, distance=Distance.Dot)},
            sparse_vectors={SPARSE: EdgeSparseVectorParams(modifier=Modifier.Idf)},
            wal_enabled=False,
        )
        with _edge_errors(path, writing=True):
            return cls(path, EdgeShard.create(str(path), config))

    @classmethod
    def load(cls, path: Path, *, points: int = 0) -> EdgeStore:
        """Raises CorpusDamaged when the files cannot be read or hold less than so many points."""
        from qdrant_edge import EdgeShard

        with _edge_errors(path):
            store = cls(path, EdgeShard.load(str(path)))
        if (count := store.count()) < points:
            store.close()
            raise CorpusDamaged(f"The index at {path} holds {count} of {points} passages.")
        return store

    def close(self) -> None:
        with _edge_errors(self.path):
            self._shard.close()

    def count(self) -> int:
        with _edge_errors(self.path):
            return self._shard.info().points_count

    def write(self, points: Sequence[VectorPoint], vectors: Vectors) -> None:
        """Store passages durably; points that are there already are replaced."""
        from qdrant_edge import Point, SparseVector, UpdateOperation

        rows = [
            Point(
                point_id(one.document_id, one.version, one.ordinal),
                {DENSE: vector, SPARSE: SparseVector(*bm25_document(one.embedded_text))},
                {"document": one.document_id, "version": one.version, "start": one.start, "end": one.end},
            )
            for one, vector in zip(points, vectors.tolist(), strict=True)
        ]
        with _edge_errors(self.path, writing=True):
            self._shard.update(UpdateOperation.upsert_points(rows))
            self._shard.flush()

    def delete(self, points: Sequence[Points]) -> None:
        """Remove versions of documents durably; points that are not there are no error."""
        from qdrant_edge import UpdateOperation

        ids = [point_id(one.document_id, one.version, i) for one in points for i in range(one.passages)]
        with _edge_errors(self.path, writing=True):
            for low in range(0, len(ids), 10_000):
                self._shard.update(UpdateOperation.delete_points(list(ids[low : low + 10_000])))
            self._shard.flush()

    def search(
        self, queries: Sequence[tuple[str, list[float]]], limit: int, *, among: AbstractSet[uuid.UUID] | None = None
    ) -> list[tuple[list[Found], list[Found]]]:
        """For each (text, unit vector): what the dense half and what BM25 found, up to `limit` each.

        `among` leaves all points out but these, also from BM25's document frequencies: they rank as in a shard of
        their own. By point id and not by a condition on the payload, which would read every payload there is: at
        150,000 points 0.5 ms against 100 ms.
        """
        from qdrant_edge import (
            Filter,
            HasIdCondition,
            IdfParams,
            Query,
            QueryBatchRequest,
            QueryRequest,
            SearchParams,
            SparseVector,
        )

        only = None if among is None else Filter(must=[HasIdCondition({*among})])
        frequencies = None if only is None else SearchParams(idf=IdfParams(only))
        requests: list[QueryRequest] = []
        for text, vector in queries:
            dense = Query.Nearest(vector, using=DENSE)
            sparse = Query.Nearest(SparseVector(*bm25_query(text)), using=SPARSE)
            requests += [
                QueryRequest(limit=limit, query=query, filter=only, params=params, with_payload=True)
                for query, params in ((dense, None), (sparse, frequencies))
            ]
        with _edge_errors(self.path):
            answers = self._shard.query_batch(QueryBatchRequest(requests))
            found = [[_found(point) for point in points] for points in answers]
        return list(zip(found[::2], found[1::2], strict=True))

    def ids(self) -> set[uuid.UUID]:
        """The ids of all points (for checks and repair)."""
        from qdrant_edge import ScrollRequest

        with _edge_errors(self.path):
            records, _ = self._shard.scroll(ScrollRequest(limit=self.count() + 1, with_payload=False))
        return {uuid.UUID(str(record.id)) for record in records}


def _found(point: ScoredPoint) -> Found:
    payload = point.payload or {}
    return Found(payload["document"], payload["version"], payload["start"], payload["end"])


@contextmanager
def _edge_errors(path: Path, *, writing: bool = False) -> Iterator[None]:
    try:
        yield
    except CorpusError:
        raise
    except BaseException as error:
        # Edge has no error types of its own, and a Rust panic is not even an Exception: this is the boundary.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        reason = " ".join(str(error).split())[:300]
        if any(mark in reason.lower() for mark in _DISK_FULL):
            raise disk_full(path) from error
        if writing or _NOT_ITS_FAULT.search(reason):
            use = "written" if writing else "read"
            raise CorpusError(f"The index at {path} cannot be {use}: {reason}.", hint="See the system.") from error
        raise CorpusDamaged(f"The index at {path} cannot be read: {reason}.") from error
