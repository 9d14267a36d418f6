"""The collection of one corpus on a Qdrant server: creates, checks, opens and removes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import CorpusDamaged, CorpusMismatch, StoreError, StoreMissing
from iterative_rag.index.server.qdrant_errors import server_errors
from iterative_rag.index.server.server_address import ServerAddress, parse_address
from iterative_rag.index.server.server_store import ServerStore, connected
from iterative_rag.index.sqlite_errors import rebuild_command
from iterative_rag.index.vector_store import DENSE, SPARSE, Place, PlaceOf

if TYPE_CHECKING:
    from qdrant_client import QdrantClient, models

# Key in the collection's metadata with the corpus it belongs to. Other corpora's collections are never touched.
_OWNER = "iterative_rag_corpus"


class ServerPlace(Place):
    """The collection of one corpus on a server."""

    def __init__(
        self, address: ServerAddress, corpus: str, *, connect: Callable[[ServerAddress], QdrantClient] | None = None
    ) -> None:
        self._address = address
        self._corpus = corpus
        self._collection = address.collection_of(corpus)
        self.name, self.option = address.place(corpus), address.option
        self._connect = connect or connected
        self._where = f"The collection {self._collection!r} at {address.url}"
        self._elsewhere = f"Name another: --index {self.name.rsplit('/', 1)[0]}/COLLECTION"

    def exists(self) -> bool:
        with self._client() as client:
            return client.collection_exists(self._collection)

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
            self._check(self._about(client), dimensions, owner)
            store = ServerStore(client, self._address, self._collection)
            if points and (count := store.count()) < points:
                raise CorpusDamaged(f"{self._where} holds {count} of {points} passages.")
            stack.pop_all()
        return store

    def _about(self, client: QdrantClient) -> models.CollectionInfo:
        with self._errors():
            if not client.collection_exists(self._collection):
                raise StoreMissing(
                    f"The server at {self._address.url} has no collection {self._collection!r}.",
                    hint=f"Index the corpus there: {rebuild_command(self._corpus)} --index '{self.option}'",
                )
            return client.get_collection(self._collection)

    def _check(self, about: models.CollectionInfo, dimensions: int, owner: str) -> None:
        if owner and _owner(about) != owner:
            raise CorpusMismatch(f"{self._where} belongs to another corpus.", hint=self._elsewhere)
        size = _dimensions(about)
        if dimensions and size != dimensions:
            raise CorpusMismatch(
                f"{self._where} has vectors of {size or 'no known'} dimensions, not of {dimensions}.",
                hint=f"Ask with the embedder that it was made with. {self._elsewhere}",
            )

    def remove(self, owner: str) -> None:
        """Remove the collection, unless it belongs to another corpus."""
        self._drop(owner)

    def _drop(self, owner: str) -> bool:
        """Delete the collection if it is this corpus's; whether one of that name is left that is not."""
        with self._client() as client:
            if not client.collection_exists(self._collection):
                return False
            if _owner(client.get_collection(self._collection)) != owner:
                return True
            client.delete_collection(self._collection)
        return False

    @contextmanager
    def _client(self) -> Iterator[QdrantClient]:
        with closing(self._connect(self._address)) as client, self._errors():
            yield client

    def _errors(self) -> Any:
        return server_errors(self._address, self._collection)


def build(address: str) -> PlaceOf:
    """Raises UsageError for an address that cannot be one."""
    server = parse_address(address)
    return lambda corpus, folder: ServerPlace(server, corpus)


def is_ours(about: models.CollectionInfo) -> bool:
    """Whether a corpus of this package keeps its vectors in the collection."""
    return bool(_owner(about))


def _owner(about: models.CollectionInfo) -> str:
    metadata = about.config.metadata or {}
    return str(metadata.get(_OWNER, ""))


def _dimensions(about: models.CollectionInfo) -> int:
    """0 where the collection has no dense vectors of ours."""
    vectors = about.config.params.vectors
    with suppress(KeyError, TypeError, AttributeError):
        return int(vectors[DENSE].size)  # type: ignore[index]
    return 0
