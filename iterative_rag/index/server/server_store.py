"""The same points on a Qdrant server or cluster. With `server_place.py` and `qdrant_errors.py` the only code that knows
`qdrant-client`.

Not through LlamaIndex's `QdrantVectorStore`: it reads no hit whose text does not stand in the payload (ours stay in the
documents database), takes one query a call, and cannot give points back with their vectors.
"""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any, TypeVar

from iterative_rag.errors import MissingExtra, StoreUnreachable
from iterative_rag.index.server.qdrant_errors import server_errors
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.sparse import Sparse
from iterative_rag.index.vector_store import (
    DENSE,
    EXACT_POINTS,
    SPARSE,
    StoredPoint,
    VectorStore,
)
from iterative_rag.remote.api_keys import key_to_send
from iterative_rag.remote.hosts import announce
from iterative_rag.remote.server_calls import connection_limits

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

T = TypeVar("T")

HNSW_EF = 256
# Points per request: 256 points of 384 numbers are about 2 MB of JSON; a server accepts 32 MB.
BATCH = 256
_SCROLLED = 10_000
_PAUSES = (0.5, 2.0, 5.0)


class ServerStore(VectorStore):
    """Implements index.store.VectorStore over one collection; safe to use from several threads."""

    def __init__(self, client: QdrantClient, address: ServerAddress, collection: str) -> None:
        self._client = client
        self._address = address
        self._collection = collection
        # Counted once: near the limit either way of searching is fine.
        self._small = self.count() <= EXACT_POINTS

    def count(self) -> int:
        with self._errors():
            return self._client.count(self._collection, exact=True).count

    def put(self, points: Sequence[StoredPoint]) -> None:
        from qdrant_client import models

        rows = [
            models.PointStruct(
                id=str(point.id),
                vector={
                    DENSE: point.dense,
                    SPARSE: models.SparseVector(indices=point.sparse[0], values=point.sparse[1]),
                },
                payload=point.payload,
            )
            for point in points
        ]
        for low in range(0, len(rows), BATCH):
            part = rows[low : low + BATCH]
            self._again(functools.partial(self._client.upsert, self._collection, part, wait=True))

    def drop(self, ids: Sequence[uuid.UUID]) -> None:
        from qdrant_client import models

        for low in range(0, len(ids), _SCROLLED):
            chosen = models.PointIdsList(points=[str(point) for point in ids[low : low + _SCROLLED]])
            self._again(functools.partial(self._client.delete, self._collection, chosen, wait=True))

    def retrieve(self, ids: Sequence[uuid.UUID], *, payload: bool = False) -> Sequence[Any]:
        asked = [str(point) for point in ids]
        with self._errors():
            return self._client.retrieve(self._collection, asked, with_payload=payload)

    def nearest(
        self, wanted: Sequence[list[float] | Sparse], limit: int, among: AbstractSet[uuid.UUID] | None
    ) -> Sequence[Sequence[Any]]:
        from qdrant_client import models

        only = None
        if among is not None:
            only = models.Filter(must=[models.HasIdCondition(has_id=sorted(map(str, among)))])
        counted = models.Filter() if only is None and self._small else only
        frequencies = None if counted is None else models.SearchParams(idf=models.IdfCorpusParams(corpus=counted))
        dense = models.SearchParams(exact=True) if self._small else models.SearchParams(hnsw_ef=HNSW_EF)
        requests = [
            models.QueryRequest(query=half, using=DENSE, params=dense, filter=only, limit=limit)
            if isinstance(half, list)
            else models.QueryRequest(
                query=models.SparseVector(indices=half[0], values=half[1]),
                using=SPARSE,
                params=frequencies,
                filter=only,
                limit=limit,
            )
            for half in wanted
        ]
        with self._errors():
            return [answer.points for answer in self._client.query_batch_points(self._collection, requests)]

    def close(self) -> None:
        self._client.close()

    def _errors(self) -> Any:
        return server_errors(self._address, self._collection)

    def _again(self, call: Callable[[], T]) -> T:
        """Retry a write. Writing the same points twice changes nothing."""
        for pause in (*_PAUSES, None):
            try:
                with self._errors():
                    return call()
            except StoreUnreachable:
                if pause is None:
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")


def connected(address: ServerAddress) -> QdrantClient:
    """A client of the server, with the key that belongs to it. It does not call the server yet."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise MissingExtra("qdrant") from error
    from iterative_rag.remote.bounded_body import hooks

    # Proxies break loopback; what version the server has shows in what it answers.
    options: dict[str, Any] = {"trust_env": False} if address.loopback else {}
    announce(address.url, "vectors and the words of questions, as numbers,")
    return QdrantClient(
        url=address.url,
        port=address.port,
        api_key=key_to_send(address.url, "qdrant") or None,
        timeout=address.timeout,
        check_compatibility=False,
        limits=connection_limits(),
        event_hooks=hooks(2.0 * address.timeout),
        **options,
    )
