"""Opens what is asked: a corpus of ours, or a collection that LlamaIndex or another program wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

from iterative_rag.app.factory.backends import make_embedder, make_reranker, ranking_of
from iterative_rag.app.factory.corpus_actions import corpora, open_asked
from iterative_rag.settings import Settings

if TYPE_CHECKING:
    from iterative_rag.index.collections.collection_client import CollectionClient
    from iterative_rag.index.collections.collection_corpus import OpenedCorpus
    from iterative_rag.index.collections.opening import SparseQuery
    from iterative_rag.index.joint_corpus import JointCorpus
    from iterative_rag.protocols import Cache, Embedder


def open_to_read(
    settings: Settings,
    embedder: Embedder | None = None,
    kept: Cache | None = None,
    *,
    rerank: object | None = None,
    store: object | None = None,
) -> OpenedCorpus | JointCorpus:
    """The corpus of the settings, or the collection that their `index` names and no corpus of ours wrote. `store` is a
    vector store or an index of LlamaIndex, which is opened instead.

    Raises what `open_asked` does, and UsageError for a store that cannot be opened.
    """
    found, sparse = _collection(settings, store)
    if found is None:
        return open_asked(settings, embedder, kept, rerank=rerank)
    from contextlib import ExitStack

    from iterative_rag.index.collections.collection_corpus import CollectionCorpus

    with ExitStack() as stack:
        stack.callback(found.close)
        corpus = CollectionCorpus(
            found,
            embedder or make_embedder(settings.embedder, settings, kept),
            sparse_query=sparse,
            cache=kept,
            reranker=make_reranker(settings, kept, rerank),
            ranking=ranking_of(settings),
        )
        stack.pop_all()
    return corpus


def _collection(settings: Settings, store: object | None) -> tuple[CollectionClient | None, SparseQuery | None]:
    """The collection to open, if one is meant, and the function for sparse queries that an object brings."""
    if store is None and not names_collection(settings):
        return None, None
    from iterative_rag.index.collections.opening import collection_of, foreign_collection
    from iterative_rag.index.server.server_address import parse_address

    return collection_of(store) if store is not None else (foreign_collection(parse_address(settings.index)), None)


def names_collection(settings: Settings) -> bool:
    """Whether the settings name a collection and no corpus of ours, so that the collection itself may be meant."""
    if not settings.index.lower().startswith(("qdrant://", "qdrants://")):
        return False
    from iterative_rag.index.server.server_address import parse_address

    collection = parse_address(settings.index).collection
    return bool(collection) and (
        not settings.corpus or (settings.corpus == collection and collection not in corpora().names())
    )
