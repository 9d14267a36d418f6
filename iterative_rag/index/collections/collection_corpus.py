"""A collection of another program as a corpus: searched as ours are, and only read."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TypeAlias
from uuid import UUID

from iterative_rag.errors import CorpusMismatch, UsageError
from iterative_rag.index import rank_fusion
from iterative_rag.index.catalogue import CatalogueEntry, ids_of_title, no_document
from iterative_rag.index.collections.collection_client import CollectionClient, CollectionShape
from iterative_rag.index.collections.stored_node import AssembledDocument, StoredNode, assembled
from iterative_rag.index.indexed_corpus import Fused, IndexedCorpus, fuse
from iterative_rag.index.rank_fusion import Ranker
from iterative_rag.index.sparse import bm25_document, bm25_order
from iterative_rag.protocols import Cache, Embedder, Reranker
from iterative_rag.sources.given_documents import labels_of
from iterative_rag.types import Document, Hit

# The document id of a node that belongs to no document begins so.
_ALONE = "point:"
# Titles of more nodes are not looked through: it would take seconds with each start.
_TITLED_NODES = 10_000


class CollectionCorpus:
    """Implements protocols.Corpus. Safe to use from several threads.

    Its passages are the nodes of the collection, its documents what those of a document make when they are put together
    again. Nothing is kept but in a `pinned` corpus: there a document stays as it was first read.

    Dense vectors are searched by the collection, and the nearest nodes are ranked by their words too.
    """

    def __init__(
        self,
        client: CollectionClient,
        embedder: Embedder,
        *,
        cache: Cache | None = None,
        reranker: Reranker | None = None,
    ) -> None:
        """Raises UsageError, CorpusMismatch or another CorpusError where the collection cannot be searched."""
        self.name, self.notice, self._client = client.collection, "", client
        self._shape: CollectionShape = client.shape()
        if embedder.dimensions != self._shape.size:
            raise CorpusMismatch(
                f"The collection {self.name!r} was written with vectors of {self._shape.size} dimensions, and "
                f"{embedder.name} makes {embedder.dimensions}.",
                hint="Ask with the model that wrote it: --embedder ollama/MODEL, or openai-like/MODEL@URL; from Python "
                "any LlamaIndex embedding object, as embed_model.",
            )
        self._ranker = Ranker(embedder, cache, reranker)
        self._memory: dict[str, AssembledDocument] | None = None

    def pinned(self) -> CollectionCorpus:
        """The same corpus, where a document stays as it was first read. It shares the connection."""
        pinned = copy.copy(self)
        pinned._memory = {}
        return pinned

    @property
    def fingerprint(self) -> str:
        """Changes with the number of nodes: a collection does not tell when one was replaced."""
        return f"{self._client.address.place(self.name)}/{self._client.count()}"

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` nodes of each query: dense and by words, fused by reciprocal rank."""
        asked = [query for query in dict.fromkeys(queries) if query.strip()]
        if limit < 1 or not asked:
            return [[] for _ in queries]
        needed = self._ranker.needed(limit)
        depth = max(rank_fusion.SEARCH_DEPTH, 2 * limit)
        nearest = self._client.search([self._ranker.of(query) for query in asked], depth, self._shape)
        best = [self._fused(query, nodes)[:needed] for query, nodes in zip(asked, nearest, strict=True)]
        documents = self._documents({_document_id(node): node for pairs in best for _, node in pairs})
        hits = {query: self._hits(query, pairs, documents)[:limit] for query, pairs in zip(asked, best, strict=True)}
        return [hits.get(query, []) for query in queries]

    def _fused(self, query: str, nearest: Sequence[StoredNode]) -> list[tuple[Fused, StoredNode]]:
        """The nodes with a text, each text once, best first."""
        terms = [dict(zip(*bm25_document(node.text), strict=True)) for node in nearest]
        by_words = [nearest[number].id for number in bm25_order(query, terms)]
        nodes = {node.id: node for node in nearest if node.text.strip()}
        ranks = fuse([node.id for node in nearest], by_words)
        by_text: dict[str, tuple[Fused, StoredNode]] = {}
        for fused in ranks:
            if node := nodes.get(fused.point):
                by_text.setdefault(node.text, (fused, node))
        return list(by_text.values())

    def _hits(
        self, query: str, pairs: Sequence[tuple[Fused, StoredNode]], documents: Mapping[str, AssembledDocument]
    ) -> list[Hit]:
        hits, texts = [], {}
        for fused, node in pairs:
            held = documents.get(_document_id(node))
            if held is None or node.id not in held.places:
                continue  # removed from its document since the search
            start, end = held.places[node.id]
            ranks = fused.score, fused.dense_rank, fused.sparse_rank
            hits.append(Hit(held.document.id, held.document.title, start, end, *ranks))
            texts[held.document.id, start] = node.text
        return self._ranker.reranked(query, hits, lambda hit: texts[hit.document_id, hit.start])

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when there is none of that id."""
        documents = self._documents({document_id: None})
        if document_id not in documents:
            raise no_document(self.name, document_id)
        return documents[document_id].document

    def _documents(self, wanted: Mapping[str, StoredNode | None]) -> dict[str, AssembledDocument]:
        """The documents of these ids that exist, with all their nodes; of a node that stands alone, or whose document
        is gone since it was found, that node."""
        held = {} if self._memory is None else self._memory
        missing = {document_id: node for document_id, node in wanted.items() if document_id not in held}
        nodes: dict[str, list[StoredNode]] = {}
        for document_id, node in missing.items():
            if document_id.startswith(_ALONE) and (node := node or self._alone(document_id)):
                nodes[document_id] = [node]
        parts = [document_id for document_id in missing if not document_id.startswith(_ALONE)]
        for node in self._client.nodes_of(parts, self._shape):
            nodes.setdefault(node.document_id, []).append(node)
        nodes |= {gone: [node] for gone in parts if gone not in nodes and (node := missing[gone])}
        keys = self._client.keys
        for document_id, group in nodes.items():
            if document_id in missing:  # another thread may have been first
                held.setdefault(document_id, assembled(document_id, group, keys, self.name))
        return {document_id: held[document_id] for document_id in wanted if document_id in held}

    def _alone(self, document_id: str) -> StoredNode | None:
        try:
            point = UUID(document_id.removeprefix(_ALONE))
        except ValueError:
            return None
        return self._client.node(point)

    def titles(self) -> list[str]:
        """The titles that the nodes tell, sorted; none of a large collection, whose nodes are not all read for it."""
        if self._client.count() > _TITLED_NODES:
            return []
        return [entry.title for entry in self.catalogue() if entry.title]

    def find(self, title: str) -> list[Document]:
        """The documents of that title (case and underscores aside). Raises CorpusError naming the nearest titles."""
        titles = [(entry.id, entry.title) for entry in self.catalogue()]
        return [self.document(document_id) for document_id in ids_of_title(self.name, title, titles)]

    def catalogue(self) -> list[CatalogueEntry]:
        """All documents without their texts, by title. Every node is read."""
        first: dict[str, StoredNode] = {}
        for node in self._client.all_nodes():
            before = first.setdefault(_document_id(node), node)
            if (node.start or 0) < (before.start or 0):
                first[_document_id(node)] = node
        keys, entries = self._client.keys, []
        for document_id, node in first.items():
            if not node.text.strip():
                continue
            labels = labels_of(node.metadata, node.text, title_key=keys.title, url_key=keys.url)
            entries.append(CatalogueEntry(document_id, labels.title, labels.url, labels.source))
        return sorted(entries, key=lambda entry: (entry.title, entry.id))

    def close(self) -> None:
        if self._memory is None:
            self._client.close()


# What a program opens to search and read.
OpenedCorpus: TypeAlias = IndexedCorpus | CollectionCorpus


def only_as_a_whole(name: str) -> UsageError:
    """The error for a question or a search within a part of a collection."""
    return UsageError(
        f"The collection {name!r} can only be searched as a whole.",
        hint="Leave out the part, or index the documents as a corpus of your own: iterative-rag index PATH",
    )


def _document_id(node: StoredNode) -> str:
    return node.document_id or f"{_ALONE}{node.id}"
