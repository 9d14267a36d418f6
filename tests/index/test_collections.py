"""Collections that LlamaIndex wrote, in several shapes: found, put together, searched and asked; nothing is written."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex
from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter
from llama_index.core.schema import BaseNode
from llama_index.core.schema import Document as LlamaIndexDocument

from fakes import two_article_corpus
from fakes.in_memory_qdrant import InMemoryQdrant
from fakes.llama_index_models import two_article_llm, word_embedding
from iterative_rag import IterativeRAG
from iterative_rag.app.factory import open_to_read
from iterative_rag.errors import CorpusError, CorpusMismatch, StoreMissing, StoreUnreachable, UsageError
from iterative_rag.index.collections import collection_client
from iterative_rag.index.collections.collection_corpus import CollectionCorpus
from iterative_rag.index.embedders import embedder as chosen_embedder
from iterative_rag.index.server.server_address import ServerAddress
from iterative_rag.index.server.server_store import connected
from iterative_rag.index.sparse import bm25_document, bm25_query
from iterative_rag.settings import load_settings
from iterative_rag.sources.given_documents import GivenDocuments
from iterative_rag.types import Document, Hit

qdrant = pytest.importorskip("llama_index.vector_stores.qdrant", reason="needs the extra llama-index")

pytestmark = [
    pytest.mark.filterwarnings("ignore:Local mode performs exact"),
    pytest.mark.filterwarnings("ignore:Payload indexes have no effect"),
]

DIMENSIONS = 64
# Three articles, long enough to be cut, with words that only one of them has.
ARTICLES = {
    "Sunday bridge": two_article_corpus.TEXTS["Sunday_bridge.md"],
    "Aldermere": two_article_corpus.TEXTS["Aldermere.md"],
    "Wend": "# Wend\n\n" + " ".join(f"The river Wend passes the village of Place{n} and its mill." for n in range(60)),
}
QUERIES = ["In which town does the Sunday bridge stand?", "mayor of Aldermere", "Place7 mill", "zeppelin", "the of"]


def documents() -> list[LlamaIndexDocument]:
    return [LlamaIndexDocument(text=text, metadata={"title": title}) for title, text in ARTICLES.items()]


def ours(function: Callable[[str], tuple[list[int], list[float]]]) -> Callable[[list[str]], Any]:
    """As LlamaIndex calls a function for sparse vectors."""
    return lambda texts: tuple(map(list, zip(*map(function, texts), strict=True)))


def pairs(text: str) -> tuple[list[int], list[float]]:
    """Sparse vectors unlike BM25: pairs of letters."""
    found = sorted({zlib.crc32(text[n : n + 2].lower().encode()) for n in range(len(text) - 1)})
    return found, [1.0] * len(found)


def _euclid() -> dict[str, Any]:
    from qdrant_client import models

    return {"dense_config": models.VectorParams(size=DIMENSIONS, distance=models.Distance.EUCLID)}


def _bm25() -> dict[str, Any]:
    from qdrant_client import models

    functions = {"sparse_doc_fn": ours(bm25_document), "sparse_query_fn": ours(bm25_query)}
    idf = models.SparseVectorParams(modifier=models.Modifier.IDF)
    return {"enable_hybrid": True, "sparse_config": idf, **functions}


def _pairs() -> dict[str, Any]:
    return {"enable_hybrid": True, "sparse_doc_fn": ours(pairs), "sparse_query_fn": ours(pairs)}


SHAPES: dict[str, Callable[[], dict[str, Any]]] = {
    "dense, unnamed": dict,
    "dense, by distance": _euclid,
    "hybrid, BM25": _bm25,
    "hybrid, BM25, other names": lambda: {**_bm25(), "dense_vector_name": "mine", "sparse_vector_name": "text-sparse"},
    "hybrid, sparse vectors of another kind": _pairs,
}


def written(client: InMemoryQdrant, shape: str, collection: str = "theirs", **options: Any) -> Any:
    """The index that wrote the collection."""
    store = qdrant.QdrantVectorStore(collection, client=client, **SHAPES[shape]())
    options.setdefault("transformations", [SentenceSplitter(chunk_size=64, chunk_overlap=16)])
    return VectorStoreIndex.from_documents(
        documents(),
        storage_context=StorageContext.from_defaults(vector_store=store),
        embed_model=word_embedding(DIMENSIONS),
        **options,
    )


def opened(given: object, **settings: Any) -> CollectionCorpus:
    corpus = open_to_read(load_settings(settings), chosen_embedder(word_embedding(DIMENSIONS)), store=given)
    assert isinstance(corpus, CollectionCorpus)
    return corpus


@pytest.fixture
def client() -> InMemoryQdrant:
    return InMemoryQdrant()


@pytest.fixture(params=SHAPES)
def index(request: pytest.FixtureRequest, client: InMemoryQdrant) -> Any:
    return written(client, request.param)


READS = {"collection_exists", "count", "get_collection", "get_collections", "query_batch_points", "retrieve", "scroll"}


class ReadOnly:
    """The client of a server that lets a collection be read."""

    def __init__(self, client: InMemoryQdrant) -> None:
        self._client = client

    def __getattr__(self, name: str) -> Any:
        assert name in {*READS, "close"}, f"a collection is only read, and this calls {name}"
        return getattr(self._client, name)


@pytest.fixture
def server(client: InMemoryQdrant, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of a server that holds what `client` does."""

    def connect(address: ServerAddress) -> Any:
        return ReadOnly(client) if address.host == "memory" else connected(address)

    monkeypatch.setattr(collection_client, "connected", connect)
    return "qdrant://memory"


# --- what every corpus promises --------------------------------------------------------------


def test_documents_are_put_together_as_they_were(index: Any) -> None:
    with closing(opened(index)) as corpus:
        found = {entry.title: corpus.document(entry.id) for entry in corpus.catalogue()}
        assert {title: " ".join(one.text.split()) for title, one in found.items()} == {
            title: " ".join(text.split()) for title, text in ARTICLES.items()
        }
        assert corpus.titles() == sorted(ARTICLES)
        assert [one.title for one in corpus.find("sunday_bridge")] == ["Sunday bridge"]
        with pytest.raises(CorpusError, match="no document titled") as raised:
            corpus.find("Sunday bridg")
        assert "'Sunday bridge'" in raised.value.hint


def test_a_hit_is_the_text_of_its_node(index: Any) -> None:
    texts = {node.get_content() for node in nodes_of(index)}
    with closing(opened(index)) as corpus:
        for hits in corpus.search(QUERIES[:3], 20):
            assert 4 < len(hits) <= 20
            assert len({(hit.document_id, hit.start) for hit in hits}) == len(hits)
            for hit in hits:
                assert corpus.document(hit.document_id).text[hit.start : hit.end] in texts
        assert corpus.search(["In which town does the Sunday bridge stand?"], 1)[0][0].title == "Sunday bridge"


def test_words_count_in_every_shape(index: Any) -> None:
    with closing(opened(index)) as corpus:
        (hits,) = corpus.search(["Place7"], 3)
        assert "Place7 " in shown(corpus, hits[0])
        assert hits[0].sparse_rank == 1


def nodes_of(index: Any) -> Sequence[BaseNode]:
    nodes: Sequence[BaseNode] = index.vector_store.get_nodes(limit=1000)
    return nodes


def shown(corpus: CollectionCorpus, hit: Hit) -> str:
    return corpus.document(hit.document_id).text[hit.start : hit.end]


# --- nodes of other kinds --------------------------------------------------------------------


def test_parents_and_children_of_a_hierarchy_are_one_text(client: InMemoryQdrant) -> None:
    parser = HierarchicalNodeParser.from_defaults(chunk_sizes=[256, 64])
    with closing(opened(written(client, "dense, unnamed", transformations=[parser]))) as corpus:
        (found,) = corpus.find("Wend")
        assert " ".join(found.text.split()) == " ".join(ARTICLES["Wend"].split())


def test_nodes_without_places_or_documents_are_read(client: InMemoryQdrant) -> None:
    from llama_index.core.schema import TextNode

    store = qdrant.QdrantVectorStore("theirs", client=client)
    texts = ["The old mill stands in Umber.", "The mayor of Umber is Ida Roe."]
    nodes = [TextNode(text=text, embedding=word_embedding().get_text_embedding(text)) for text in texts]
    store.add(nodes)
    with closing(opened(store)) as corpus:
        (hit,) = corpus.search(["mayor of Umber"], 1)[0]
        document = corpus.document(hit.document_id)
        assert (document.text, document.title) == (texts[1], "The mayor of Umber")
        assert document.id == f"point:{nodes[1].node_id}"
        with pytest.raises(CorpusError):
            corpus.document("point:nothing")


def test_payloads_of_other_programs_are_read_by_the_keys_that_are_named(client: InMemoryQdrant, server: str) -> None:
    from qdrant_client import models

    sizes = {
        "body": models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE),
        "head": models.VectorParams(size=3, distance=models.Distance.COSINE),
    }
    client.create_collection("wiki", sizes)
    for number, (title, text) in enumerate(ARTICLES.items()):
        payload = {"body": {"plain": text}, "metadata": {"headline": title, "link": f"https://example.org/{number}"}}
        vectors = {"body": word_embedding(DIMENSIONS).get_text_embedding(text), "head": [1.0, 0, 0]}
        client.upsert("wiki", [models.PointStruct(id=number, payload=payload, vector=vectors)])
    with pytest.raises(UsageError, match="body, head") as unnamed:
        at(f"{server}/wiki")
    assert "?vector=NAME" in unnamed.value.hint
    with pytest.raises(CorpusMismatch, match="no text") as mute:
        at(f"{server}/wiki?vector=body")
    assert "?text=KEY" in mute.value.hint
    with closing(at(f"{server}/wiki?vector=body&text=body.plain&title=headline&url=link")) as corpus:
        (hit,) = corpus.search(["mayor of Aldermere"], 1)[0]
        assert corpus.document(hit.document_id).link == "https://example.org/1"
        assert corpus.titles() == sorted(ARTICLES)


def test_what_is_no_address_of_a_text_is_left_out() -> None:
    given = LlamaIndexDocument(text="Berlin is a town.", metadata={"url": "http://[", "link": "https://example.org/a"})
    (found,) = GivenDocuments([given]).documents()
    assert isinstance(found, Document)
    assert found.url == "https://example.org/a"


# --- through the doors -----------------------------------------------------------------------


def at(index: str, embed: Any = None, **settings: Any) -> CollectionCorpus:
    model = chosen_embedder(embed or word_embedding(DIMENSIONS))
    corpus = open_to_read(load_settings({"index": index, **settings}), model)
    assert isinstance(corpus, CollectionCorpus)
    return corpus


def test_a_question_of_two_hops_is_answered_from_a_collection(client: InMemoryQdrant, server: str) -> None:
    index = written(client, "hybrid, BM25")
    embed_model = word_embedding(DIMENSIONS)
    for store in (f"{server}/theirs", index, index.vector_store):
        with IterativeRAG.from_settings(llm=two_article_llm(), index=store, embed_model=embed_model) as rag:
            answer = rag.ask(two_article_corpus.QUESTION)
        assert (answer.short_answer, answer.settings["corpus"]) == ("Edda Holm", "theirs")
        assert [citation.title for citation in answer.citations] == ["Sunday bridge", "Aldermere"]
    with IterativeRAG.from_settings(llm=two_article_llm(), index=index) as rag:  # with the embedder of the index
        assert rag.ask(two_article_corpus.QUESTION).short_answer == "Edda Holm"
        with pytest.raises(UsageError, match="can only be read"):
            rag.index([])


def test_another_embedder_is_refused_by_its_size(client: InMemoryQdrant, server: str) -> None:
    written(client, "dense, unnamed")
    with pytest.raises(CorpusMismatch, match=r"vectors of 64 dimensions, and .* makes 32") as raised:
        at(f"{server}/theirs", word_embedding(32))
    assert "--embedder ollama/MODEL" in raised.value.hint


def test_what_is_not_there_or_not_theirs(client: InMemoryQdrant, server: str) -> None:
    written(client, "dense, unnamed")
    with pytest.raises(StoreMissing, match="no collection 'their'") as missing:
        at(f"{server}/their")
    assert "There are: theirs." in missing.value.hint
    with pytest.raises(StoreUnreachable):
        at("qdrant://127.0.0.1:9/theirs?timeout=1")
    with pytest.raises(UsageError, match="no option 'nothing'"):
        at(f"{server}/theirs?nothing=1")
    with pytest.raises(UsageError, match="cannot be opened as a corpus"):
        opened(object())
    # A corpus that is named is not mistaken for the collection.
    IterativeRAG.index([two_article()], corpus="mine", embed_model=word_embedding(DIMENSIONS))
    with pytest.raises(CorpusMismatch, match="kept at local"):
        at(f"{server}/theirs", corpus="mine")


def two_article() -> LlamaIndexDocument:
    return LlamaIndexDocument(text=ARTICLES["Aldermere"], id_="a")
