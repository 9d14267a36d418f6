"""What a collection of another program tells of itself, and the calls to it. Nothing here writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from iterative_rag.errors import CorpusMismatch, IterativeRAGError, StoreError, StoreMissing, UsageError
from iterative_rag.index.collections.stored_node import DOCUMENT_KEYS, PayloadKeys, StoredNode, node_of
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.server.server_store import connected, owner_of, server_errors
from iterative_rag.index.vector_store import SPARE, point_uuid, ranked

if TYPE_CHECKING:
    from uuid import UUID

    from qdrant_client import QdrantClient, models

T = TypeVar("T")

# LlamaIndex's names, where a collection has several vectors.
_DENSE_NAMES = ("text-dense", "")
_DISTANCES = ("Euclid", "Manhattan")
# Points that are looked at to learn how a collection was written.
SAMPLE = 8
_SCROLLED = 256
_NAMES_SHOWN = 8


@dataclass(frozen=True, slots=True)
class CollectionShape:
    """`dense` is the name of the vectors, None where they have none, and `size` their dimensions. `nearest_first`: the
    score of a point is a distance, and less is better. `document_key` is the key by which the nodes of a document are
    found."""

    dense: str | None
    size: int
    nearest_first: bool
    document_key: str


class CollectionClient:
    """One collection, whose payload is read by `keys`. Safe to use from several threads."""

    def __init__(
        self, client: QdrantClient, collection: str, address: ServerAddress, keys: PayloadKeys, *, lent: bool = False
    ) -> None:
        """`lent`: the client is the caller's, who closes it. It may be a local one, which is not thread-safe."""
        self.collection, self.address, self.keys = collection, address, keys
        self._client, self._lent = client, lent
        self._lock: AbstractContextManager[Any] = threading.RLock() if lent else nullcontext()

    def shape(self) -> CollectionShape:
        """Raises StoreMissing where there is no collection, UsageError where the user has to name something, and
        CorpusMismatch where there is nothing to read."""
        if not self._called(lambda: self._client.collection_exists(self.collection)):
            message = f"There is no collection {self.collection!r} yet."
            raise StoreMissing(message, hint="Add documents to it, or name another.")
        about = self._called(lambda: self._client.get_collection(self.collection))
        sample, _ = self._called(lambda: self._client.scroll(self.collection, limit=SAMPLE, with_payload=True))
        dense, vectors = self._dense(about.config.params.vectors)
        payloads = [record.payload or {} for record in sample]
        if not any(self._node(record).text for record in sample):
            self._refuse_mute(payloads)
        known = (key for key in DOCUMENT_KEYS if any(key in payload for payload in payloads))
        document = self.keys.document or next(known, DOCUMENT_KEYS[0])
        return CollectionShape(dense, int(vectors.size), str(vectors.distance.value) in _DISTANCES, document)

    def count(self) -> int:
        return self._called(lambda: self._client.count(self.collection, exact=True)).count

    def search(self, vectors: Sequence[list[float]], limit: int, shape: CollectionShape) -> list[list[StoredNode]]:
        """The nearest nodes of each vector, best first. All in one request."""
        from qdrant_client import models

        requests = [
            models.QueryRequest(query=vector, using=shape.dense, limit=limit + SPARE, with_payload=True)
            for vector in vectors
        ]
        answers = self._called(lambda: self._client.query_batch_points(self.collection, requests))
        sign = -1 if shape.nearest_first else 1
        return [self._ranked(answer.points, limit, sign) for answer in answers]

    def nodes_of(self, documents: Sequence[str], shape: CollectionShape) -> list[StoredNode]:
        """All nodes of these documents."""
        from qdrant_client import models

        if not documents:
            return []
        numbers = [int(document) for document in documents if document.isascii() and document.isdigit()]
        meant = [models.MatchAny(any=list(documents)), *([models.MatchAny(any=numbers)] if numbers else [])]
        either = models.Filter(should=[models.FieldCondition(key=shape.document_key, match=match) for match in meant])
        return [self._node(record) for record in self._scrolled(either)]

    def node(self, point: UUID) -> StoredNode | None:
        """One node by the id of its point, which may be a number."""
        wanted: list[Any] = [point.int if point.int < 2**64 else str(point)]
        records = self._called(lambda: self._client.retrieve(self.collection, wanted, with_payload=True))
        return self._node(records[0]) if records else None

    def all_nodes(self) -> Iterator[StoredNode]:
        return map(self._node, self._scrolled(None))

    def close(self) -> None:
        if not self._lent:
            self._client.close()

    def _dense(self, vectors: Any) -> tuple[str | None, models.VectorParams]:
        if vectors is None:
            message = f"The collection {self.collection!r} has no dense vectors."
            raise CorpusMismatch(message, hint="Name another collection.")
        if not isinstance(vectors, Mapping):
            return None, vectors
        named = self.keys.vector
        chosen = [named] if named else [key for key in _DENSE_NAMES if key in vectors] or list(vectors)
        if len(chosen) != 1 or chosen[0] not in vectors:
            message = f"The collection {self.collection!r} has vectors of the names {', '.join(sorted(vectors))}."
            raise UsageError(message, hint="Name those to search: ?vector=NAME")
        return chosen[0], vectors[chosen[0]]

    def _refuse_mute(self, payloads: Sequence[Mapping[str, Any]]) -> None:
        fields = sorted({key for payload in payloads for key in payload if not key.startswith("_")})[:12]
        where = f"under {self.keys.text!r}" if self.keys.text else "under the usual keys" if payloads else "yet"
        raise CorpusMismatch(
            f"The collection {self.collection!r} holds no text {where}.",
            hint=f"Name the key of the text: ?text=KEY. There are: {', '.join(fields)}." if fields else "",
        )

    def _ranked(self, points: Sequence[models.ScoredPoint], limit: int, sign: int) -> list[StoredNode]:
        nodes = {node.id: node for node in map(self._node, points)}
        scored = ((sign * point.score, point_uuid(point.id)) for point in points)
        return [nodes[point] for point in ranked(scored, limit)]

    def _node(self, point: models.Record | models.ScoredPoint) -> StoredNode:
        return node_of(point.id, point.payload, self.keys)

    def _scrolled(self, wanted: models.Filter | None) -> Iterator[models.Record]:
        offset: Any = None
        while True:
            scroll = partial(self._client.scroll, self.collection, scroll_filter=wanted, limit=_SCROLLED)
            records, offset = self._called(partial(scroll, offset=offset, with_payload=True))
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
            message = f"The client of the collection {self.collection!r} failed: {type(error).__name__}."
            raise StoreError(message, hint="Check the client that was given.") from error


def foreign_collection(address: ServerAddress) -> CollectionClient | None:
    """The collection that the address names; None where a corpus of ours keeps its vectors there. Raises MissingExtra,
    StoreMissing or another StoreError."""
    client = connected(address)
    with ExitStack() as stack:
        stack.callback(client.close)
        with server_errors(address, address.collection):
            if not client.collection_exists(address.collection):
                names = sorted(collection.name for collection in client.get_collections().collections)
                message = f"The server at {address.url} has no collection {address.collection!r}."
                raise StoreMissing(message, hint=f"There are: {', '.join(names[:_NAMES_SHOWN]) or 'none'}.")
            if owner_of(client.get_collection(address.collection)):
                return None
        stack.pop_all()
    return CollectionClient(client, address.collection, address, address.keys)


def collection_of(given: object) -> CollectionClient:
    """The collection of a `QdrantVectorStore`, or of an index over one. Raises UsageError for any other object."""
    store: Any = getattr(given, "vector_store", given)
    collection, client = getattr(store, "collection_name", None), getattr(store, "_client", None)
    if not isinstance(collection, str) or client is None:
        raise UsageError(
            f"A {type(given).__name__} cannot be opened as a corpus.",
            hint="Give a QdrantVectorStore with a client that is not asynchronous, or a VectorStoreIndex over one.",
        )
    text = getattr(store, "text_key", None)
    keys = PayloadKeys() if text in (None, "text") else PayloadKeys(text=text)
    # Of a client that the caller made, the address is only named in messages.
    address = ServerAddress(str(getattr(getattr(client, "_client", None), "_host", None) or "this-process"))
    return CollectionClient(client, collection, address, keys, lent=True)
