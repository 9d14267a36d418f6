"""The embedded vector store: a Qdrant Edge shard of dense and BM25 vectors. The only file that knows Edge.

The shard is made without a write-ahead log: `write` and `delete` flush instead, and several processes may load it at
once (a log can be opened by one only). Loading and closing write small files anew with what they held before.
Edge raises bare `Exception`s; here they become CorpusErrors.
"""

from __future__ import annotations

import re
import shutil
import sys
import uuid
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusDamaged, CorpusError
from iterative_rag.index.sparse import Sparse
from iterative_rag.index.sqlite_errors import index_disk_full
from iterative_rag.index.vector_store import DENSE, EXACT_POINTS, SPARSE, StoredPoint, VectorStore
from iterative_rag.system.files import is_full

if TYPE_CHECKING:
    from qdrant_edge import EdgeConfig, EdgeShard

# What the engine says of files that hold something else than it wrote, and what names an error of the system. Whatever
# is not the first, or is the second too (no thread, no memory, a clock before 1970), proves nothing about the files.
_DAMAGE = re.compile(
    r"deserialize|line \d+ column \d+|utf-8|unicode|parse version|corrupt|malformed|checksum|inconsistent|"
    r"out of bounds|out of range|not readable|not found|not exist|no such file|decode|decompress|unexpected end|"
    r"assertion failed",
    re.IGNORECASE,
)
_OF_THE_SYSTEM = re.compile(r"(?:os error|\bcode:|\berrno) (?!2\b)\d|spawn|allocat|systemtime", re.IGNORECASE)
# Oversampling: how many times the wanted points are taken by quantised vectors and rescored by full ones.
OVERSAMPLING = 2.0
# Where there is a graph: recall@50 is then 0.99 even of points that lie anywhere (docs/scale.md).
HNSW_EF = 2048
_SAID_CHARS = 300
SEALED = "sealed"
_DISK_FULL = ("no space left", "os error 28", "os error 122", "disk quota")


class EdgeStore(VectorStore):
    """An open shard. Close it; many threads may search it at once, one may write while nobody searches. `sealed` is how
    many points its sealed segment was made of, 0 where there is none; `closing` is closed after it."""

    def __init__(self, path: Path, shard: EdgeShard, sealed: int = 0) -> None:
        self.path, self._shard, self._sealed = path, shard, sealed
        # A sealed segment that nothing was added to or removed from knows BM25's document frequencies.
        self._count_frequencies = self.unsealed() > 0 and self.count() <= EXACT_POINTS
        self.closing = ExitStack()

    @classmethod
    def create(cls, path: Path, dimensions: int) -> EdgeStore:
        from qdrant_edge import EdgeShard

        with _edge_errors(path, writing=True):
            return cls(path, EdgeShard.create(str(path), _config(dimensions)))

    @classmethod
    def load(cls, path: Path, *, points: int = 0, sealed: int = 0) -> EdgeStore:
        """Raises CorpusDamaged when the files cannot be read or hold less than so many points."""
        from qdrant_edge import EdgeShard

        with _edge_errors(path):
            for quantised in path.glob("segments/*/vector_storage-*/quantized.data"):
                _read_ahead(quantised)
            store = cls(path, EdgeShard.load(str(path)), sealed)
        if (count := store.count()) < points:
            store.close()
            raise CorpusDamaged(f"The index at {path} holds {count} of {points} passages.")
        return store

    def close(self) -> None:
        with self.closing, _edge_errors(self.path):
            self._shard.close()

    def unsealed(self) -> int:
        """How many points were written or removed since it was sealed."""
        if not self._sealed:
            return self.count()
        with _edge_errors(self.path):
            about = self._shard.info()
        # Edge counts a sealed point twice, once for each vector, and still counts removed points.
        written = about.indexed_vectors_count - 2 * self._sealed
        return written + (self._sealed + written - about.points_count)

    def count(self) -> int:
        with _edge_errors(self.path):
            return self._shard.info().points_count

    def put(self, points: Sequence[StoredPoint]) -> None:
        from qdrant_edge import Point, SparseVector, UpdateOperation

        rows = [Point(row.id, {DENSE: row.dense, SPARSE: SparseVector(*row.sparse)}, row.payload) for row in points]
        with _edge_errors(self.path, writing=True):
            self._shard.update(UpdateOperation.upsert_points(rows))
            self._shard.flush()
        self._count_frequencies = self.count() <= EXACT_POINTS

    def drop(self, ids: Sequence[uuid.UUID]) -> None:
        from qdrant_edge import UpdateOperation

        with _edge_errors(self.path, writing=True):
            for low in range(0, len(ids), 10_000):
                self._shard.update(UpdateOperation.delete_points(list(ids[low : low + 10_000])))
            self._shard.flush()
        self._count_frequencies = self.count() <= EXACT_POINTS

    def nearest(
        self, wanted: Sequence[list[float] | Sparse], limit: int, among: AbstractSet[uuid.UUID] | None
    ) -> Sequence[Sequence[Any]]:
        """Those `among` are told by point id and not by a condition on the payload, which would read every payload
        there is: at 150,000 points 0.5 ms against 100 ms."""
        import qdrant_edge as edge

        only = None if among is None else edge.Filter(must=[edge.HasIdCondition({*among})])
        counted = edge.Filter() if only is None and self._count_frequencies else only
        frequencies = None if counted is None else edge.SearchParams(idf=edge.IdfParams(counted))
        rescored = edge.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
        dense = edge.SearchParams(hnsw_ef=HNSW_EF, quantization=rescored) if self._sealed else None
        asked = [
            (edge.Query.Nearest(half, using=DENSE), dense)
            if isinstance(half, list)
            else (edge.Query.Nearest(edge.SparseVector(*half), using=SPARSE), frequencies)
            for half in wanted
        ]
        requests = [edge.QueryRequest(limit=limit, query=query, filter=only, params=how) for query, how in asked]
        with _edge_errors(self.path):
            return self._shard.query_batch(edge.QueryBatchRequest(requests))

    def retrieve(self, ids: Sequence[uuid.UUID], *, payload: bool = False) -> Sequence[Any]:
        with _edge_errors(self.path):
            return self._shard.retrieve(list(ids), with_payload=payload, with_vector=False)


def serve(path: str, dimensions: int, graph: bool) -> None:
    """For a child process: `pack`, and tell how it ended."""
    try:
        pack(Path(path), dimensions, graph=graph)
        sys.stdout.write(f"{SEALED}\n")
    except CorpusError as error:
        sys.stdout.write(f"{error}\n")


def pack(path: Path, dimensions: int, *, graph: bool) -> None:
    """Put all points of a shard into one sealed segment, whose vectors are found by their quantised form, or by a
    graph. Takes long and holds the GIL. If the process is killed meanwhile, the shard is unusable."""
    from qdrant_edge import EdgeShard

    with _edge_errors(path, writing=True):
        shard = EdgeShard.load(str(path), _config(dimensions, sealed=True, graph=graph))
        shard.optimize()
        shard.flush()
        shard.close()
    shutil.rmtree(path / "temp_segments", ignore_errors=True)


def _config(dimensions: int, *, sealed: bool = False, graph: bool = False) -> EdgeConfig:
    import qdrant_edge as edge

    options: dict[str, Any] = {}
    if sealed:
        # Full vectors are read for the best points only; all readers share the quantised ones.
        cold, cached = edge.Memory.Cold, edge.Memory.Cached
        quantised = edge.ScalarQuantizationConfig(edge.ScalarType.Int8, quantile=0.99, memory=cached)
        found = edge.HnswIndexConfig(m=16 if graph else 0, ef_construct=128, full_scan_threshold=10_000)
        options = {"memory": cold, "quantization_config": quantised, "hnsw_config": found}
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Dot, **options)},
        sparse_vectors={SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
        # In KB: everything is sealed, into one segment of any size.
        optimizers=edge.EdgeOptimizersConfig(indexing_threshold=1, default_segment_number=1, max_segment_size=2**40)
        if sealed
        else None,
        wal_enabled=False,
    )


def _read_ahead(path: Path) -> None:
    """Bring a file into the system's cache in one sweep. Edge, which looks at all of it when it opens it and drops it
    from the cache when it closes it, would read it page by page: 58 MB in 40 s instead of 0.1 s."""
    block = bytearray(1 << 20)
    with path.open("rb", buffering=0) as file:
        while file.readinto(block):
            pass


@contextmanager
def _edge_errors(path: Path, *, writing: bool = False) -> Iterator[None]:
    try:
        yield
    except CorpusError:
        raise
    except BaseException as error:
        # Edge has no error types of its own, and a Rust panic is not even an Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = " ".join(str(error).split())
        reason = said if len(said) <= _SAID_CHARS else f"… {said[-_SAID_CHARS:]}"  # the cause stands last
        if any(mark in said.lower() for mark in _DISK_FULL) or is_full(path):
            raise index_disk_full(path) from error
        told = said.replace(str(path), "")  # whose name may hold any word
        if not writing and _DAMAGE.search(told) and not _OF_THE_SYSTEM.search(told):
            raise CorpusDamaged(f"The index at {path} cannot be read: {reason}.") from error
        use = "written" if writing else "opened"
        hint = "Nothing was changed; type it again. If it stays so, check the memory, the clock and the system log."
        raise CorpusError(f"The index at {path} could not be {use}: {reason}.", hint=hint) from error
