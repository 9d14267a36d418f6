"""The embedded vector store: a Qdrant Edge shard of dense and BM25 vectors. The only file that knows Edge.

The shard is made without a write-ahead log: `write` and `delete` flush instead, and several readers may
load it at once (a log can be opened by one process only). Who may load it when is `lock.py`'s affair.
Edge raises bare `Exception`s; here is the boundary where they become CorpusErrors.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusDamaged, CorpusError
from iterative_rag.files import has_no_room
from iterative_rag.index.documents import Points
from iterative_rag.index.faults import index_disk_full
from iterative_rag.index.sparse import bm25_query
from iterative_rag.index.store import (
    DENSE,
    EXACT_POINTS,
    LOCAL,
    SPARE,
    SPARSE,
    Found,
    StoredPoint,
    VectorPoint,
    point_id,
    point_ids,
    ranked,
    stored,
)
from iterative_rag.protocols import Vectors

if TYPE_CHECKING:
    from qdrant_edge import EdgeShard, QueryRequest

# No memory, no permission, too many open files: the files may well be whole.
_NOT_ITS_FAULT = re.compile(r"\bos error (?:12|13|23|24)\b")
_DISK_FULL = ("no space left", "os error 28", "os error 122", "disk quota")


class EdgeStore:
    """An open shard. Close it; two threads may search it at once, one may write."""

    def __init__(self, path: Path, shard: EdgeShard, beside: TemporaryDirectory[str] | None = None) -> None:
        """`beside` is the folder that it was loaded through, if not from `path` itself."""
        self.path = path
        self._shard = shard
        self._beside = beside

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
        with _edge_errors(path):
            store = cls(path, *_loaded(path))
        if (count := store.count()) < points:
            store.close()
            raise CorpusDamaged(f"The index at {path} holds {count} of {points} passages.")
        return store

    def close(self) -> None:
        with _edge_errors(self.path):
            self._shard.close()
        if self._beside is not None:
            self._beside.cleanup()

    def count(self) -> int:
        with _edge_errors(self.path):
            return self._shard.info().points_count

    def write(self, points: Sequence[VectorPoint], vectors: Vectors) -> None:
        """Store passages durably; points that are there already are replaced."""
        self.put(stored(points, vectors))

    def put(self, points: Sequence[StoredPoint]) -> None:
        from qdrant_edge import Point, SparseVector, UpdateOperation

        rows = [Point(one.id, {DENSE: one.dense, SPARSE: SparseVector(*one.sparse)}, {**one.payload}) for one in points]
        with _edge_errors(self.path, writing=True):
            self._shard.update(UpdateOperation.upsert_points(rows))
            self._shard.flush()

    def delete(self, points: Sequence[Points]) -> None:
        """Remove versions of documents durably; points that are not there are no error."""
        self.drop(list(point_ids(points)))

    def drop(self, ids: Sequence[uuid.UUID]) -> None:
        from qdrant_edge import UpdateOperation

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
        counted = Filter() if only is None and self.count() <= EXACT_POINTS else only
        frequencies = None if counted is None else SearchParams(idf=IdfParams(counted))
        requests: list[QueryRequest] = []
        for text, vector in queries:
            dense = Query.Nearest(vector, using=DENSE)
            sparse = Query.Nearest(SparseVector(*bm25_query(text)), using=SPARSE)
            requests += [
                QueryRequest(limit=limit + SPARE, query=query, filter=only, params=params, with_payload=True)
                for query, params in ((dense, None), (sparse, frequencies))
            ]
        with _edge_errors(self.path):
            answers = self._shard.query_batch(QueryBatchRequest(requests))
            found = [
                ranked(((point.score, uuid.UUID(str(point.id)), _found(point.payload)) for point in points), limit)
                for points in answers
            ]
        return list(zip(found[::2], found[1::2], strict=True))

    def held(self, ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
        with _edge_errors(self.path):
            records = self._shard.retrieve(list(ids), with_payload=False, with_vector=False)
        return {uuid.UUID(str(record.id)) for record in records}

    def read(self, ids: Sequence[uuid.UUID]) -> list[StoredPoint]:
        """Those of the points that are there."""
        with _edge_errors(self.path):
            records = self._shard.retrieve(list(ids), with_payload=True, with_vector=True)
        found = []
        for record in records:
            vectors: Any = record.vector
            sparse = vectors[SPARSE]
            found.append(
                StoredPoint(
                    uuid.UUID(str(record.id)),
                    _found(record.payload),
                    list(vectors[DENSE]),
                    (list(sparse.indices), list(sparse.values)),
                )
            )
        return found

    def ids(self) -> set[uuid.UUID]:
        """The ids of all points (for checks and repair)."""
        from qdrant_edge import ScrollRequest

        with _edge_errors(self.path):
            records, _ = self._shard.scroll(ScrollRequest(limit=self.count() + 1, with_payload=False))
        return {uuid.UUID(str(record.id)) for record in records}


class EdgePlace:
    """The folder of one corpus's vectors: the place where an index is kept unless another is named."""

    name = LOCAL
    option = LOCAL
    shared = False

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        return self._path.is_dir()

    def create(self, dimensions: int, owner: str) -> None:
        """An empty shard in place of whatever was there; whose it is follows from where it lies."""
        shutil.rmtree(self._path, ignore_errors=True)
        EdgeStore.create(self._path, dimensions).close()

    def load(self, *, points: int = 0, dimensions: int = 0, owner: str = "") -> EdgeStore:
        return EdgeStore.load(self._path, points=points)

    def remove(self, owner: str) -> None:
        shutil.rmtree(self._path, ignore_errors=True)


def _loaded(path: Path) -> tuple[EdgeShard, TemporaryDirectory[str] | None]:
    """Loading writes the shard's settings anew. On a full disk it is loaded through a folder for temporary files, which
    holds a copy of them and links to all the rest."""
    from qdrant_edge import EdgeShard

    try:
        return EdgeShard.load(str(path)), None
    except Exception:
        if not has_no_room(path):
            raise
    beside = TemporaryDirectory(prefix="iterative-rag-")
    for entry in path.iterdir():
        if entry.is_dir():
            (Path(beside.name) / entry.name).symlink_to(entry.absolute())
        else:
            shutil.copy(entry, beside.name)
    return EdgeShard.load(beside.name), beside


def _found(payload: Mapping[str, Any] | None) -> Found:
    held = payload or {}
    return Found(held["document"], held["version"], held["start"], held["end"])


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
        if any(mark in reason.lower() for mark in _DISK_FULL) or has_no_room(path):
            raise index_disk_full(path) from error
        if writing or _NOT_ITS_FAULT.search(reason):
            use = "written" if writing else "read"
            raise CorpusError(f"The index at {path} cannot be {use}: {reason}.", hint="See the system.") from error
        raise CorpusDamaged(f"The index at {path} cannot be read: {reason}.") from error


__all__ = ["EdgePlace", "EdgeStore", "Found", "VectorPoint", "point_id"]
