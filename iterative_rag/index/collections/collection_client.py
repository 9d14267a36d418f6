"""What a collection of another program tells of itself, and the calls to it. Nothing here writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from iterative_rag.errors import CorpusMismatch, IterativeRAGError, StoreError, StoreMissing, UsageError
from iterative_rag.index.collections.stored_node import DOCUMENT_KEYS, PayloadKeys, StoredNode, node_of
from iterative_rag.index.server.qdrant_errors import server_errors
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.sparse import Sparse, bm25_document
from iterative_rag.index.vector_store import SPARE, point_uuid, ranked
from iterative_rag.protocols import Embedder

if TYPE_CHECKING:
    from uuid import UUID

    from qdrant_client import QdrantClient, models

# LlamaIndex's names, where a collection has several vectors.
_DENSE_NAMES, _SPARSE_NAMES = ("text-dense", ""), ("text-sparse-new", "text-sparse")
# Points that are looked at to learn how a collection was written.
SAMPLE = 8
# The share of our own terms of a text that its sparse vector has to hold, to be of the same BM25.
_SAME_TERMS = 0.9
_DISTANCES = ("Euclid", "Manhattan")
_EMBEDDER_KEYS = ("embed_model", "embedding_model", "embed_model_name", "embedder")


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """`dense` is the name of the vectors, None where they have none; `sparse` that of the sparse ones, "" without any.

    `nearest_first`: the score of a point is a distance, and less is better. `bm25`: the sparse vectors are those of our
    BM25, so that a query can be made for them. `document_key` is the key by which the nodes of a document are found.
    `embedder` is the model that the collection names, "" where it names none.
    """

    dense: str | None
    size: int
    nearest_first: bool
    sparse: str
    bm25: bool
    document_key: str
    embedder: str


def shape_of(
    name: str, about: models.CollectionInfo, sample: Sequence[models.Record], keys: PayloadKeys
) -> CollectionShape:
    """Raises UsageError where the user has to name something, CorpusMismatch where there is nothing to read."""
    dense, vectors = _dense(name, about.config.params.vectors, keys)
    nearest_first = str(vectors.distance.value) in _DISTANCES
    sparse = _sparse(about.config.params.sparse_vectors or {})
    if not any(node_of(record.id, record.payload, keys).text for record in sample):
        fields = sorted({key for record in sample for key in record.payload or {} if not key.startswith("_")})[:12]
        raise CorpusMismatch(
            f"The collection {name!r} holds no text"
            + (f" under {keys.text!r}." if keys.text else " under the usual keys." if sample else ": it is empty."),
            hint=f"Name the key of the text: ?text=KEY. There are: {', '.join(fields)}." if fields else "",
        )
    document = keys.document or next(
        (key for key in DOCUMENT_KEYS if any(key in (record.payload or {}) for record in sample)), DOCUMENT_KEYS[0]
    )
    bm25 = bool(sparse) and _is_bm25(sample, sparse, keys)
    return CollectionShape(dense, int(vectors.size), nearest_first, sparse, bm25, document, _embedder(about, sample))


def check_embedder(name: str, shape: CollectionShape, embedder: Embedder) -> None:
    """Raise CorpusMismatch where the collection was written with another embedder."""
    told = f", with {shape.embedder}" if shape.embedder else ""
    ask = f"ollama/{_bare(shape.embedder)}" if shape.embedder else "ollama/MODEL"
    hint = (
        f"Ask with the model that wrote it: --embedder {ask}, or openai-like/{shape.embedder or 'MODEL'}@URL; "
        "from Python any LlamaIndex embedding object, as embed_model."
    )
    if embedder.dimensions != shape.size:
        raise CorpusMismatch(
            f"The collection {name!r} was written with vectors of {shape.size} dimensions{told}, and {embedder.name} "
            f"makes {embedder.dimensions}.",
            hint=hint,
        )
    if shape.embedder and _bare(shape.embedder) not in embedder.name.lower():
        raise CorpusMismatch(
            f"The collection {name!r} was written with {shape.embedder}, not with {embedder.name}.", hint=hint
        )


def _bare(model: str) -> str:
    """The name of a model without its maker and version: `bge-m3` of `BAAI/bge-m3` and `bge-m3:latest`."""
    return model.rpartition("/")[2].partition(":")[0].lower()


def _dense(name: str, vectors: Any, keys: PayloadKeys) -> tuple[str | None, models.VectorParams]:
    if not isinstance(vectors, Mapping):
        if vectors is None:
            raise CorpusMismatch(f"The collection {name!r} has no dense vectors.", hint="Name another collection.")
        return None, vectors
    chosen = [keys.vector] if keys.vector else [key for key in _DENSE_NAMES if key in vectors] or list(vectors)
    if len(chosen) != 1 or chosen[0] not in vectors:
        raise UsageError(
            f"The collection {name!r} has vectors of the names {', '.join(sorted(vectors))}.",
            hint="Name those to search: ?vector=NAME",
        )
    return chosen[0], vectors[chosen[0]]


def _sparse(vectors: Mapping[str, Any]) -> str:
    return next((key for key in _SPARSE_NAMES if key in vectors), next(iter(vectors), ""))


def _is_bm25(sample: Sequence[models.Record], sparse: str, keys: PayloadKeys) -> bool:
    """Whether every sampled text has our terms in its sparse vector; LlamaIndex adds those of the metadata."""
    compared = 0
    for record in sample:
        vector = record.vector.get(sparse) if isinstance(record.vector, Mapping) else None
        terms = set(bm25_document(node_of(record.id, record.payload, keys).text)[0])
        if vector is None or not terms:
            continue
        if len(terms & set(vector.indices)) < _SAME_TERMS * len(terms):  # type: ignore[union-attr]
            return False
        compared += 1
    return compared > 0


def _embedder(about: models.CollectionInfo, sample: Sequence[models.Record]) -> str:
    notes = [getattr(about.config, "metadata", None) or {}, *(record.payload or {} for record in sample)]
    names = (note.get(key) for note in notes for key in _EMBEDDER_KEYS)
    return next((name for name in names if isinstance(name, str) and name), "")


T = TypeVar("T")

_SCROLLED = 256
# The large fields of a payload, where only what is told about a text is wanted.
_HEAVY = ("_node_content", "text", "page_content", "content", "document", "chunk")


class CollectionClient:
    """One collection, whose payload is read by `keys`. Safe to use from several threads."""

    def __init__(
        self,
        client: QdrantClient,
        collection: str,
        address: ServerAddress,
        keys: PayloadKeys,
        *,
        lent: bool = False,
    ) -> None:
        """`lent`: the client is the caller's, who closes it. It may be a local one, which is not thread-safe."""
        self.collection, self.address, self.keys = collection, address, keys
        self._client, self._lent = client, lent
        self._lock: AbstractContextManager[Any] = threading.RLock() if lent else nullcontext()

    def shape(self) -> CollectionShape:
        """Raises StoreMissing where there is no collection, UsageError or CorpusError where it cannot be read."""
        if not self._called(lambda: self._client.collection_exists(self.collection)):
            raise StoreMissing(
                f"There is no collection {self.collection!r} yet.", hint="Add documents to it, or name another."
            )
        about = self._called(lambda: self._client.get_collection(self.collection))
        sample, _ = self._called(
            lambda: self._client.scroll(self.collection, limit=SAMPLE, with_payload=True, with_vectors=True)
        )
        return shape_of(self.collection, about, sample, self.keys)

    def count(self) -> int:
        return self._called(lambda: self._client.count(self.collection, exact=True)).count

    def search(
        self, queries: Sequence[tuple[list[float], Sparse | None]], limit: int, shape: CollectionShape
    ) -> list[tuple[list[StoredNode], list[StoredNode] | None]]:
        """For each query what the dense half and the sparse one found, best first; None where there is no sparse
        vector to search by. All in one request."""
        from qdrant_client import models

        asked = partial(models.QueryRequest, limit=limit + SPARE, with_payload=True)
        requests = []
        for vector, sparse in queries:
            requests.append(asked(query=vector, using=shape.dense))
            if sparse is not None:
                requests.append(
                    asked(query=models.SparseVector(indices=sparse[0], values=sparse[1]), using=shape.sparse)
                )
        answers = iter(self._called(lambda: self._client.query_batch_points(self.collection, requests)))
        sign = -1 if shape.nearest_first else 1
        return [
            (
                self._ranked(next(answers).points, limit, sign),
                None if sparse is None else self._ranked(next(answers).points, limit, 1),
            )
            for _, sparse in queries
        ]

    def _ranked(self, points: Sequence[models.ScoredPoint], limit: int, sign: int) -> list[StoredNode]:
        nodes = {node.id: node for node in map(self._node, points)}
        scored = ((sign * point.score, point_uuid(point.id)) for point in points)
        return [nodes[point] for point in ranked(scored, limit)]

    def nodes_of(self, documents: Sequence[str], shape: CollectionShape) -> list[StoredNode]:
        """All nodes of these documents."""
        from qdrant_client import models

        if not documents:
            return []
        numbers = [int(document) for document in documents if document.isascii() and document.isdigit()]
        meant = [models.MatchAny(any=list(documents)), *([models.MatchAny(any=numbers)] if numbers else [])]
        either = models.Filter(should=[models.FieldCondition(key=shape.document_key, match=match) for match in meant])
        return [self._node(record) for record in self._scrolled(either, payload=True)]

    def node(self, point: UUID) -> StoredNode | None:
        """One node by the id of its point, which may be a number."""
        wanted: list[Any] = [point.int if point.int < 2**64 else str(point)]
        records = self._called(lambda: self._client.retrieve(self.collection, wanted, with_payload=True))
        return self._node(records[0]) if records else None

    def all_nodes(self, *, texts: bool) -> Iterator[StoredNode]:
        """Every node, with its text or without."""
        from qdrant_client import models

        named = (self.keys.title, self.keys.url, self.keys.document)
        light = models.PayloadSelectorExclude(exclude=[key for key in _HEAVY if key not in named])
        for record in self._scrolled(None, payload=True if texts else light):
            yield self._node(record)

    def _node(self, point: models.Record | models.ScoredPoint) -> StoredNode:
        return node_of(point.id, point.payload, self.keys)

    def _scrolled(self, wanted: models.Filter | None, payload: Any) -> Iterator[models.Record]:
        offset: Any = None
        while True:
            records, offset = self._called(
                lambda offset=offset: self._client.scroll(  # type: ignore[misc]
                    self.collection,
                    scroll_filter=wanted,
                    limit=_SCROLLED,
                    offset=offset,
                    with_payload=payload,
                    with_vectors=False,
                )
            )
            yield from records
            if offset is None:
                return

    def _called(self, call: Callable[[], T]) -> T:
        try:
            with self._lock, server_errors(self.address, self.collection):
                return call()
        except IterativeRAGError:
            raise
        except Exception as error:
            if not self._lent:
                raise
            # The caller's client may be of any kind, with errors of its own.
            raise StoreError(
                f"The client of the collection {self.collection!r} failed: {type(error).__name__}.",
                hint="Check the client that was given.",
            ) from error

    def close(self) -> None:
        if not self._lent:
            self._client.close()
