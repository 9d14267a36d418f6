"""The calls to a collection of another program. Nothing here writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from iterative_rag.errors import IterativeRAGError, StoreError, StoreMissing
from iterative_rag.index.collections.collection_shape import SAMPLE, CollectionShape, shape_of
from iterative_rag.index.collections.stored_node import PayloadKeys, StoredNode, node_of, point_uuid
from iterative_rag.index.server.qdrant_errors import server_errors
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.sparse import Sparse
from iterative_rag.index.vector_store import SPARE, ranked

if TYPE_CHECKING:
    from uuid import UUID

    from qdrant_client import QdrantClient, models

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
        scored = ((sign * one.score, point_uuid(one.id)) for one in points)
        return [nodes[point] for point in ranked(scored, limit)]

    def nodes_of(self, documents: Sequence[str], shape: CollectionShape) -> list[StoredNode]:
        """All nodes of these documents."""
        from qdrant_client import models

        if not documents:
            return []
        numbers = [int(one) for one in documents if one.isascii() and one.isdigit()]
        meant = [models.MatchAny(any=list(documents)), *([models.MatchAny(any=numbers)] if numbers else [])]
        either = models.Filter(should=[models.FieldCondition(key=shape.document_key, match=one) for one in meant])
        return [self._node(one) for one in self._scrolled(either, payload=True)]

    def node(self, point: UUID) -> StoredNode | None:
        """One node by the id of its point, which may be a number."""
        wanted: list[Any] = [point.int if point.int < 2**64 else str(point)]
        found = self._called(lambda: self._client.retrieve(self.collection, wanted, with_payload=True))
        return self._node(found[0]) if found else None

    def all_nodes(self, *, texts: bool) -> Iterator[StoredNode]:
        """Every node, with its text or without."""
        from qdrant_client import models

        named = (self.keys.title, self.keys.url, self.keys.document)
        light = models.PayloadSelectorExclude(exclude=[key for key in _HEAVY if key not in named])
        for one in self._scrolled(None, payload=True if texts else light):
            yield self._node(one)

    def _node(self, one: models.Record | models.ScoredPoint) -> StoredNode:
        return node_of(one.id, one.payload, self.keys)

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
