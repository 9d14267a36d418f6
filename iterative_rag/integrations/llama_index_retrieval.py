"""The passages of an `IterativeRAG`'s corpus for pipelines of LlamaIndex: a retriever, a vector store and an index."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import Sequence
from typing import Any

from llama_index.core import VectorStoreIndex
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.callbacks import CallbackManager
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.schema import BaseNode, NodeRelationship, NodeWithScore, QueryBundle, RelatedNodeInfo, TextNode
from llama_index.core.vector_stores.types import (
    BasePydanticVectorStore,
    FilterCondition,
    FilterOperator,
    MetadataFilter,
    MetadataFilters,
    VectorStoreQuery,
    VectorStoreQueryResult,
)

from iterative_rag.app.factory import IterativeRAG
from iterative_rag.errors import UsageError
from iterative_rag.types import Document, Hit, Within

# The passages that a retriever gives unless it is told a number.
LIMIT = 10
# What a model need not see of a node: title, address and the document's own metadata are left.
_FOR_PROGRAMS = ("document_id", "start", "end", "dense_rank", "sparse_rank")
_NODES = uuid.UUID("0f6f3a52-7a0e-5d59-9b43-6c1f0d3c8f11")


class CorpusRetriever(BaseRetriever):
    """Retrieves the passages of one search of the corpus: dense vectors and BM25, fused, and reranked where the
    settings say so. No LLM is called. Raises IterativeRAGError."""

    def __init__(
        self, rag: IterativeRAG, *, limit: int = LIMIT, callback_manager: CallbackManager | None = None
    ) -> None:
        super().__init__(callback_manager)
        self._rag = rag
        self._limit = limit

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return found_nodes(self._rag, query_bundle.query_str, self._limit)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class CorpusVectorStore(BasePydanticVectorStore):
    """The corpus as a vector store that is only read, and embeds queries itself: what LlamaIndex builds on a vector
    store works over it. Metadata filters are equalities on the metadata of documents, all of which have to hold.

    Raises UsageError for anything else, and IterativeRAGError.
    """

    stores_text: bool = True
    is_embedding_query: bool = False
    _rag: IterativeRAG = PrivateAttr()

    def __init__(self, rag: IterativeRAG) -> None:
        super().__init__(stores_text=True)
        self._rag = rag

    @classmethod
    def class_name(cls) -> str:
        return "CorpusVectorStore"

    @property
    def client(self) -> IterativeRAG:
        return self._rag

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        if query.query_str is None or query.node_ids or query.doc_ids:
            raise UsageError("The corpus is searched by the text of a query.", hint="Give query_str and no ids.")
        rag = self._rag
        if query.filters is not None and query.filters.filters:
            rag = rag.over(rag.corpus, within=within_of(query.filters))
        nodes = found_nodes(rag, query.query_str, query.similarity_top_k)
        return VectorStoreQueryResult(
            nodes=[node.node for node in nodes],
            similarities=[node.score or 0.0 for node in nodes],
            ids=[node.node.node_id for node in nodes],
        )

    async def aquery(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        return await asyncio.to_thread(self.query, query, **kwargs)

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        if not nodes:
            return []  # an index over an existing store begins so
        raise UsageError("A corpus does not take nodes.", hint="Give it documents: rag.index(documents)")

    def delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        raise UsageError("No document is removed from a corpus here.", hint="rag.index(documents, replace=True)")


def as_retriever(rag: IterativeRAG, *, limit: int = LIMIT) -> CorpusRetriever:
    """A retriever of at most `limit` passages, for a `RetrieverQueryEngine` or any other pipeline."""
    return CorpusRetriever(rag, limit=limit)


def as_index(rag: IterativeRAG) -> VectorStoreIndex:
    """An index over the corpus that is only read: `as_index(rag).as_query_engine(llm=...)`, `.as_chat_engine(llm=...)`.
    Its queries are embedded by the corpus; no model of LlamaIndex's settings is asked."""
    return VectorStoreIndex.from_vector_store(CorpusVectorStore(rag), embed_model=MockEmbedding(embed_dim=1))


def found_nodes(rag: IterativeRAG, query: str, limit: int) -> list[NodeWithScore]:
    """The passages of one search as nodes, best first, with the score by which they were ranked."""
    return [NodeWithScore(node=_node(*pair), score=pair[0].score) for pair in rag.search(query, limit)]


def within_of(filters: MetadataFilters) -> Within:
    """Metadata filters as a part of a corpus. Raises UsageError for what it cannot express."""
    conditions = []
    both = filters.condition in (None, FilterCondition.AND)
    for condition in filters.filters:
        if not both or not isinstance(condition, MetadataFilter) or condition.operator is not FilterOperator.EQ:
            raise UsageError(
                "Of metadata filters only equalities that all have to hold are understood.",
                hint="For a part by title, source, section or date: rag.over(rag.corpus, within=Within(...))",
            )
        if "=" in condition.key:
            raise UsageError(f"No condition can be put on the key {condition.key!r}.", hint="Name a key without '='.")
        conditions.append(f"{condition.key}={_literal(str(condition.value))}")
    return Within(where=tuple(conditions))


def _literal(value: str) -> str:
    """A condition on this very value, also where its characters would make it a pattern."""
    return re.sub(r"[*?[]", r"[\g<0>]", value) if "*" in value or "?" in value else value


def _node(hit: Hit, document: Document) -> TextNode:
    span = {"document_id": document.id, "start": hit.start, "end": hit.end}
    ranks = {"dense_rank": hit.dense_rank, "sparse_rank": hit.sparse_rank}
    told = {"title": document.title, "source": document.source}
    page = document.page_at(hit.start)
    optional = {"url": document.link or None, "page": page}
    return TextNode(
        id_=str(uuid.uuid5(_NODES, f"{document.id}\n{hit.start}\n{hit.end}")),
        text=document.text[hit.start : hit.end],
        start_char_idx=hit.start,
        end_char_idx=hit.end,
        metadata={**dict(document.metadata), **told, **{k: v for k, v in optional.items() if v}, **span, **ranks},
        excluded_llm_metadata_keys=list(_FOR_PROGRAMS),
        excluded_embed_metadata_keys=list(_FOR_PROGRAMS),
        relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id=document.id)},
    )
