"""The corpus in pipelines of LlamaIndex: retriever, vector store, index, agents that are cancelled."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.chat_engine.types import ChatMode
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.postprocessor.types import BaseNodePostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import NodeRelationship, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import FilterOperator, MetadataFilter, MetadataFilters

from fakes import two_article_corpus
from fakes.llama_index_models import ArticleLLM, two_article_llm, word_embedding
from iterative_rag import IterativeRAG
from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.integrations.llama_index import CorpusVectorStore, as_index, as_retriever, as_tool
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import load_settings
from iterative_rag.types import Document

BRIDGE, TOWN = two_article_corpus.TEXTS.values()
MAYOR = "Who is the mayor of Aldermere?"


@pytest.fixture
def rag() -> Iterator[IterativeRAG]:
    """With LLM and embedding objects of LlamaIndex alone."""
    documents = [
        Document("bridge", "Sunday bridge", BRIDGE, "memory", metadata=(("kind", "bridge"),)),
        Document("town", "Aldermere", TOWN, "memory", url="https://example.org/a", metadata=(("kind", "town"),)),
    ]
    IterativeRAG.index(documents, corpus="towns", embed_model=word_embedding())
    with IterativeRAG.from_settings(corpus="towns", llm=ArticleLLM(), embed_model=word_embedding()) as made:
        yield made


def test_a_retriever_gives_passages_with_scores_places_and_metadata(rag: IterativeRAG) -> None:
    retriever = as_retriever(rag, limit=2)
    assert isinstance(retriever, BaseRetriever)
    found = retriever.retrieve(MAYOR)
    assert len(found) == 2
    assert found[0].score is not None
    assert found[0].score >= (found[1].score or 0)
    node = found[0].node
    assert isinstance(node, TextNode)
    assert TOWN[node.start_char_idx : node.end_char_idx] == node.get_content()
    assert {key: node.metadata[key] for key in ("title", "url", "kind", "document_id")} == {
        "title": "Aldermere",
        "url": "https://example.org/a",
        "kind": "town",
        "document_id": "town",
    }
    assert node.relationships[NodeRelationship.SOURCE].node_id == "town"  # type: ignore[union-attr]
    again = asyncio.run(as_retriever(rag).aretrieve(MAYOR))
    assert again[0].node.node_id == node.node_id


def test_a_retriever_query_engine_answers_from_the_passages(rag: IterativeRAG) -> None:
    engine = RetrieverQueryEngine.from_args(
        as_retriever(rag), llm=ArticleLLM(), node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.001)]
    )
    response = engine.query(MAYOR)
    assert str(response) == "Edda Holm"
    assert response.source_nodes[0].node.metadata["title"] == "Aldermere"


def test_an_index_offers_what_llama_index_builds_on_one(rag: IterativeRAG) -> None:
    index = as_index(rag)
    assert str(index.as_query_engine(llm=ArticleLLM()).query(MAYOR)) == "Edda Holm"
    assert str(asyncio.run(index.as_query_engine(llm=ArticleLLM()).aquery(MAYOR))) == "Edda Holm"
    chat = index.as_chat_engine(chat_mode=ChatMode.CONTEXT, llm=ArticleLLM())
    assert str(chat.chat(MAYOR)) == "Edda Holm"
    filters = MetadataFilters(filters=[MetadataFilter(key="kind", value="bridge")])
    found = index.as_retriever(filters=filters).retrieve(MAYOR)
    assert {one.node.metadata["title"] for one in found} == {"Sunday bridge"}


def test_what_a_corpus_cannot_do_as_a_vector_store_is_said(rag: IterativeRAG) -> None:
    store = CorpusVectorStore(rag)
    with pytest.raises(UsageError, match="does not take nodes") as raised:
        store.add([TextNode(text="A node.")])
    assert "rag.index(documents)" in raised.value.hint
    with pytest.raises(UsageError, match="No document is removed"):
        store.delete("town")
    newer = MetadataFilters(filters=[MetadataFilter(key="year", value=1900, operator=FilterOperator.GT)])
    with pytest.raises(UsageError, match="only equalities"):
        as_index(rag).as_retriever(filters=newer).retrieve(MAYOR)
    with pytest.raises(UsageError, match="by the text of a query"):
        as_index(rag).as_retriever(doc_ids=["town"]).retrieve(MAYOR)
    nothing = MetadataFilters(filters=[MetadataFilter(key="kind", value="river")])
    with pytest.raises(IterativeRAGError, match="river"):
        as_index(rag).as_retriever(filters=nothing).retrieve(MAYOR)


@dataclass
class _Seen:
    nodes: Sequence[NodeWithScore] = ()


def test_a_node_postprocessor_ranks_passages_of_searches_and_runs() -> None:
    seen = _Seen()

    class Backwards(BaseNodePostprocessor):
        def _postprocess_nodes(
            self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
        ) -> list[NodeWithScore]:
            seen.nodes = nodes
            return nodes[::-1]

    IterativeRAG.index(
        [Document("bridge", "Sunday bridge", BRIDGE, ""), Document("town", "Aldermere", TOWN, "")],
        corpus="towns",
        embed_model=word_embedding(),
    )
    settings = load_settings({"corpus": "towns"})
    backwards, embed_model = Backwards(), word_embedding()
    with IterativeRAG.from_settings(settings, llm=ArticleLLM(), embed_model=embed_model, rerank=backwards) as rag:
        last = as_retriever(rag).retrieve(MAYOR)[0]
        assert seen.nodes[-1].node.get_content().endswith(last.node.get_content())
        assert rag.ask(two_article_corpus.QUESTION).short_answer == "Edda Holm"


def test_an_agent_that_is_cancelled_ends_the_run_of_its_tool() -> None:
    reached, opened, calls = threading.Event(), threading.Event(), []

    def analyse(request: ChatRequest) -> str:
        calls.append(request)
        reached.set()
        assert opened.wait(20)
        return two_article_corpus.play(request.schema or {}, request.user)

    IterativeRAG.index([Document("town", "Aldermere", TOWN, "")], corpus="towns", embed_model=word_embedding())
    llm = two_article_llm(analyse=analyse)
    with IterativeRAG.from_settings(corpus="towns", llm=llm, embed_model=word_embedding(), cache=False) as rag:

        async def cancelled() -> None:
            calling = asyncio.create_task(as_tool(rag).acall(question=two_article_corpus.QUESTION))
            while not reached.is_set():
                await asyncio.sleep(0.005)
            calling.cancel()
            with pytest.raises(asyncio.CancelledError):
                await calling
            opened.set()
            while any(thread.name == "iterative-rag-run" for thread in threading.enumerate()):
                await asyncio.sleep(0.005)

        asyncio.run(asyncio.wait_for(cancelled(), 30))
    assert len(calls) == 1
