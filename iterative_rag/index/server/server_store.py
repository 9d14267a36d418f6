"""The same points on a Qdrant server or cluster, and the collection that holds them: the only code of ours that knows
`qdrant-client` and its errors. No message can hold the key.

Not through LlamaIndex's `QdrantVectorStore`: it reads no hit whose text does not stand in the payload (ours stay in the
documents database), takes one query a call, and cannot give points back with their vectors.
"""

from __future__ import annotations

import functools
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusDamaged, CorpusMismatch, MissingExtra, StoreError, StoreMissing, StoreUnreachable
from iterative_rag.index.server.server_address import ServerAddress, parse_address
from iterative_rag.index.sparse import Sparse
from iterative_rag.index.sqlite_errors import rebuild_command
from iterative_rag.index.vector_store import DENSE, EXACT_POINTS, SPARSE, Place, PlaceOf, StoredPoint, VectorStore
from iterative_rag.remote.api_keys import hint_for, key_to_send
from iterative_rag.remote.hosts import announce, is_loopback
from iterative_rag.remote.server_calls import without_secrets
from iterative_rag.system.files import json_value

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

_LONGEST_REASON = 200


@contextmanager
def server_errors(address: ServerAddress, collection: str) -> Iterator[None]:
    """Raises a StoreError or CorpusMismatch instead of the client's own errors."""
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

    try:
        yield
    except UnexpectedResponse as error:
        raise _refused(error.status_code or 0, _said(error.content), address, collection) from None
    except ResourceExhaustedResponse:
        raise _refused(429, "it is asked too much at the moment", address, collection) from None
    except ResponseHandlingException as error:
        reason = without_secrets(str(error.source))[:_LONGEST_REASON].rstrip(".")
        there = not type(error.source).__name__.startswith("Connect")
        raise StoreUnreachable(
            f"The Qdrant server at {address.url} {'broke off its reply' if there else 'cannot be reached'}: "
            f"{reason or type(error.source).__name__}.",
            hint="See the server's log."
            if there
            else "Start it, correct the address of --index, or ask the embedded index: --index local",
        ) from None
    except (ValueError, RecursionError) as error:  # no JSON, or not of the expected shape
        raise StoreError(
            f"What answers at {address.url} is not a Qdrant server of a supported version ({type(error).__name__}).",
            hint="Correct the address of --index: it is that of the REST interface, mostly port 6333.",
        ) from None
    except ApiException as error:
        message = f"The Qdrant server at {address.url} failed: {without_secrets(str(error))[:_LONGEST_REASON]}."
        raise StoreError(message, hint="Check the server's log.") from None


def _refused(status: int, said: str, address: ServerAddress, collection: str) -> Exception:
    server = f"The Qdrant server at {address.url}"
    if status in (401, 403):
        refused = "key" if key_to_send(address.url, "qdrant") else "call without a key"
        return StoreError(f"{server} refuses the {refused}.", hint=hint_for(address.url, "qdrant"))
    if status == 404:
        return StoreMissing(
            f"{server} has no collection {collection!r}.",
            hint=f"Index a corpus there: iterative-rag index PATH --corpus NAME --index '{address.option}'",
        )
    if "dimension" in said.lower():
        return CorpusMismatch(
            f"The collection {collection!r} at {address.url} has vectors of other dimensions.",
            hint="Ask with the embedder that it was made with, or name another collection in --index.",
        )
    if status in (408, 429) or status >= 500:
        return StoreUnreachable(f"{server} answered {status}: {said}.", hint="Wait, or look into the server's log.")
    return StoreError(f"{server} answered {status}: {said}.", hint="Check the server's log.")


def _said(content: bytes) -> str:
    text = content.decode(errors="replace")
    with suppress(ValueError, KeyError, TypeError):
        text = str(json_value(text)["status"]["error"])
    return without_secrets(text)[:_LONGEST_REASON].rstrip(".") or "nothing"


HNSW_EF = 256
# Points per request: 256 points of 384 numbers are about 2 MB of JSON; a server accepts 32 MB.
BATCH = 256
_SCROLLED = 10_000
_PAUSES = (0.5, 2.0, 5.0)


class ServerStore(VectorStore):
    """Implements index.store.VectorStore over one collection; safe to use from several threads."""

    def __init__(self, client: QdrantClient, address: ServerAddress, collection: str) -> None:
        self._client, self._collection = client, collection
        self._errors = functools.partial(server_errors, address, collection)
        # Counted once: near the limit either way of searching is fine.
        self._small = self.count() <= EXACT_POINTS

    def count(self) -> int:
        with self._errors():
            return self._client.count(self._collection, exact=True).count

    def put(self, points: Sequence[StoredPoint]) -> None:
        from qdrant_client import models

        vectors = [{DENSE: point.dense, SPARSE: _sparse(point.sparse)} for point in points]
        rows = [
            models.PointStruct(id=str(point.id), vector=vector, payload=point.payload)
            for point, vector in zip(points, vectors, strict=True)
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
        asked = [
            {"query": half, "using": DENSE, "params": dense}
            if isinstance(half, list)
            else {"query": _sparse(half), "using": SPARSE, "params": frequencies}
            for half in wanted
        ]
        requests = [models.QueryRequest(filter=only, limit=limit, **half) for half in asked]
        with self._errors():
            return [answer.points for answer in self._client.query_batch_points(self._collection, requests)]

    def close(self) -> None:
        self._client.close()

    def _again(self, call: Callable[[], object]) -> None:
        """Retry a write. Writing the same points twice changes nothing."""
        for pause in _PAUSES:
            try:
                with self._errors():
                    call()
                return
            except StoreUnreachable:
                time.sleep(pause)
        with self._errors():
            call()


def _sparse(vector: Sparse) -> models.SparseVector:
    from qdrant_client import models

    return models.SparseVector(indices=vector[0], values=vector[1])


def connected(address: ServerAddress) -> QdrantClient:
    """A client of the server, with the key that belongs to it. It does not call the server yet."""
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise MissingExtra("qdrant") from error
    import httpx

    from iterative_rag.remote.bounded_body import hooks

    # Proxies break loopback; what version the server has shows in what it answers.
    options: dict[str, Any] = {"trust_env": False} if is_loopback(address.url) else {}
    options |= {"limits": httpx.Limits(), "event_hooks": hooks(2.0 * address.timeout)}
    announce(address.url, "vectors and the words of questions, as numbers,")
    key = key_to_send(address.url, "qdrant") or None
    options |= {"timeout": address.timeout, "check_compatibility": False}
    return QdrantClient(url=address.url, port=address.port, api_key=key, **options)


# Key in the collection's metadata with the corpus it belongs to. Other corpora's collections are never touched.
_OWNER = "iterative_rag_corpus"


class ServerPlace(Place):
    """The collection of one corpus on a server."""

    def __init__(
        self, address: ServerAddress, corpus: str, *, connect: Callable[[ServerAddress], QdrantClient] | None = None
    ) -> None:
        self._address, self._corpus = address, corpus
        self._collection = address.collection_of(corpus)
        self._errors = functools.partial(server_errors, address, self._collection)
        self.name, self.option = address.place(corpus), address.option
        self._connect = connect or connected
        self._where = f"The collection {self._collection!r} at {address.url}"
        self._elsewhere = f"Name another: --index {self.name.rsplit('/', 1)[0]}/COLLECTION"

    def create(self, dimensions: int, owner: str, *, published: int = 0) -> None:
        """Create the collection. Raises StoreError if one of that name may belong to someone else."""
        if self._drop(owner):
            raise StoreError(f"{self._where} was not made for this corpus, so it is kept.", hint=self._elsewhere)
        from qdrant_client import models

        dense = models.VectorParams(size=dimensions, distance=models.Distance.DOT)
        with self._client() as client:
            client.create_collection(
                self._collection,
                vectors_config={DENSE: dense},
                sparse_vectors_config={SPARSE: models.SparseVectorParams(modifier=models.Modifier.IDF)},
                shard_number=self._address.shards or None,
                replication_factor=self._address.replicas or None,
                metadata={_OWNER: owner},
            )

    def load(self, generation: int, *, points: int = 0, dimensions: int = 0, owner: str = "") -> ServerStore:
        client = self._connect(self._address)
        with ExitStack() as stack:
            stack.callback(client.close)
            self._check(client, dimensions, owner)
            store = ServerStore(client, self._address, self._collection)
            if points and (count := store.count()) < points:
                raise CorpusDamaged(f"{self._where} holds {count} of {points} passages.")
            stack.pop_all()
        return store

    def _check(self, client: QdrantClient, dimensions: int, owner: str) -> None:
        with self._errors():
            if not client.collection_exists(self._collection):
                raise StoreMissing(
                    f"The server at {self._address.url} has no collection {self._collection!r}.",
                    hint=f"Index the corpus there: {rebuild_command(self._corpus)} --index '{self.option}'",
                )
            about = client.get_collection(self._collection)
        if owner and owner_of(about) != owner:
            raise CorpusMismatch(f"{self._where} belongs to another corpus.", hint=self._elsewhere)
        size, vectors = 0, about.config.params.vectors
        with suppress(KeyError, TypeError, AttributeError):  # no dense vectors of ours
            size = int(vectors[DENSE].size)  # type: ignore[index]
        if dimensions and size != dimensions:
            message = f"{self._where} has vectors of {size or 'no known'} dimensions, not of {dimensions}."
            raise CorpusMismatch(message, hint=f"Ask with the embedder that it was made with. {self._elsewhere}")

    def remove(self, owner: str) -> None:
        """Remove the collection, unless it belongs to another corpus."""
        self._drop(owner)

    def _drop(self, owner: str) -> bool:
        """Delete the collection if it is this corpus's; whether one of that name is left that is not."""
        with self._client() as client:
            if not client.collection_exists(self._collection):
                return False
            if owner_of(client.get_collection(self._collection)) != owner:
                return True
            client.delete_collection(self._collection)
        return False

    @contextmanager
    def _client(self) -> Iterator[QdrantClient]:
        with closing(self._connect(self._address)) as client, self._errors():
            yield client


def build(address: str) -> PlaceOf:
    """Raises UsageError for an address that cannot be one."""
    server = parse_address(address)
    return lambda corpus, folder: ServerPlace(server, corpus)


def owner_of(about: models.CollectionInfo) -> str:
    """The corpus of this package that keeps its vectors in the collection; "" for none."""
    metadata = about.config.metadata or {}
    return str(metadata.get(_OWNER, ""))
