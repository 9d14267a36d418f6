"""Opens a collection that the address of `--index` names, or a vector store object of LlamaIndex."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeAlias

from iterative_rag.errors import StoreMissing, UsageError
from iterative_rag.index.collections.collection_client import CollectionClient
from iterative_rag.index.collections.stored_node import PayloadKeys
from iterative_rag.index.server.qdrant_errors import server_errors
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.server.server_place import is_ours
from iterative_rag.index.server.server_store import connected
from iterative_rag.index.sparse import Sparse

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_NAMES_SHOWN = 8
# From a query to its terms and their weights.
SparseQuery: TypeAlias = Callable[[str], Sparse]


def foreign_collection(
    address: ServerAddress, *, connect: Callable[[ServerAddress], QdrantClient] | None = None
) -> CollectionClient | None:
    """The collection that the address names; None where a corpus of ours keeps its vectors there.

    Raises MissingExtra, StoreMissing or another StoreError.
    """
    client = (connect or connected)(address)
    with ExitStack() as stack:
        stack.callback(client.close)
        with server_errors(address, address.collection):
            if not client.collection_exists(address.collection):
                raise _missing(address, [collection.name for collection in client.get_collections().collections])
            if is_ours(client.get_collection(address.collection)):
                return None
        stack.pop_all()
    return CollectionClient(client, address.collection, address, address.keys)


def _missing(address: ServerAddress, names: list[str]) -> StoreMissing:
    near = difflib.get_close_matches(address.collection, names, n=1)
    shown = [*sorted(names)[:_NAMES_SHOWN], *(["…"] if len(names) > _NAMES_SHOWN else [])]
    return StoreMissing(
        f"The server at {address.url} has no collection {address.collection!r}.",
        hint=(f"Did you mean {near[0]!r}? " if near else "")
        + (f"There are: {', '.join(shown)}. " if shown else "It has none at all. ")
        + f"To copy a corpus there: iterative-rag corpus push NAME '{address.option}'",
    )


def collection_of(given: object) -> tuple[CollectionClient, SparseQuery | None]:
    """The collection of a `QdrantVectorStore`, or of an index over one, and the function for its sparse queries, where
    it has one. Raises UsageError for any other object."""
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
    sparse = getattr(store, "_sparse_query_fn", None) if getattr(store, "enable_hybrid", False) else None
    return CollectionClient(client, collection, address, keys, lent=True), sparse and _one(sparse)


def _one(function: Callable[[list[str]], Any]) -> SparseQuery:
    def terms(query: str) -> Sparse:
        (indices, *_), (values, *_) = function([query])
        return list(indices), list(values)

    return terms
