"""Embedders of servers, against a real local one, and any LlamaIndex embedding object."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import numpy as np
import pytest
from llama_index.core.embeddings import MockEmbedding

from fakes.model_server import FakeServer, Fault, unused_url
from iterative_rag.errors import EmbedderError, UsageError
from iterative_rag.index.embedders import embedder
from iterative_rag.protocols import Embedder

EMBED_PATH = {"ollama": "/api/embed", "openai-like": "/v1/embeddings"}
pytestmark = pytest.mark.usefixtures("short_pauses")
Make = Callable[..., Embedder]


@pytest.fixture
def make(kind: str, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> Make:
    def build(url: str = server.url, model: str = "tiny:8b", timeout: float = 20.0) -> Embedder:
        monkeypatch.setenv("OLLAMA_HOST", url)
        return embedder(f"ollama/{model}" if kind == "ollama" else f"openai-like/{model}@{url}/v1", timeout=timeout)

    return build


def test_rows_are_unit_vectors_in_the_order_of_the_texts(make: Make, server: FakeServer) -> None:
    server.vector = lambda text: [float(len(text)), 1.0]
    texts = ["x" * n for n in range(1, 151)]
    model = make()
    rows = model.embed_documents(texts)
    assert rows.shape == (150, 2)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.allclose(rows[:, 0] / rows[:, 1], np.arange(1, 151), rtol=1e-4)
    assert model.dimensions == 2
    assert model.embed_query("abc").shape == (2,)
    assert model.embed_documents([]).shape == (0, 2)


def test_texts_go_in_batches(make: Make, server: FakeServer, kind: str) -> None:
    make().embed_documents(["text"] * 130)
    sizes = [len(seen.body["input"]) for seen in server.calls(EMBED_PATH[kind]) if isinstance(seen.body["input"], list)]
    assert [size for size in sizes if size > 1] == [64, 64, 2]


def test_no_server_and_a_missing_model(make: Make, kind: str) -> None:
    with pytest.raises(EmbedderError, match="cannot be reached") as caught:
        make(url=unused_url()).embed_query("a")
    assert caught.value.hint
    if kind == "ollama":
        with pytest.raises(EmbedderError, match="gone") as caught:
            make(model="gone").embed_query("a")
        assert caught.value.hint == "ollama pull gone"


@pytest.mark.parametrize("fault", [Fault("status", 500), Fault("status", 429, "", {"Retry-After": "0"}), Fault("drop")])
def test_faults_pass_or_last(make: Make, server: FakeServer, kind: str, fault: Fault) -> None:
    model = make()
    server.faults.append(fault)
    assert model.embed_query("a").shape == (4,)
    server.seen.clear()
    server.always = fault
    with pytest.raises(EmbedderError):
        model.embed_query("a")
    assert len(server.calls(EMBED_PATH[kind])) == 3


@pytest.mark.parametrize("row", [[0.0, 0.0], [float("nan"), 1.0]])
def test_a_vector_without_direction_is_an_error(make: Make, server: FakeServer, row: list[float]) -> None:
    server.vector = lambda text: row
    with pytest.raises(EmbedderError):
        make().embed_query("a")


@pytest.mark.parametrize(
    ("name", "query", "passage"),
    [
        ("nomic-embed-text:latest", "search_query: a query", "search_document: a passage"),
        ("team/mxbai-embed-large", "Represent this sentence for searching relevant passages: a query", "a passage"),
        ("bge-m3:567m", "a query", "a passage"),
        ("snowflake-arctic-embed2", "query: a query", "a passage"),
        (
            "qwen3-embedding:0.6b",
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:a query",
            "a passage",
        ),
        ("embeddinggemma", "task: search result | query: a query", "title: none | text: a passage"),
    ],
)
def test_ollama_models_get_their_prefixes(
    server: FakeServer, monkeypatch: pytest.MonkeyPatch, name: str, query: str, passage: str
) -> None:
    server.models = (name,)
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    model = embedder(f"ollama/{name}")
    model.embed_documents(["a passage"])
    model.embed_query("a query")
    sent = [seen.body["input"] for seen in server.seen]
    assert [passage] in sent
    assert query in sent


def test_the_key_is_sent_and_never_shown(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    key = "sk-very-secret-0815"
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY", key)
    monkeypatch.setenv("ITERATIVE_RAG_API_KEY_HOST", "127.0.0.1")
    model = embedder(f"openai-like/m@{server.url}/v1")
    model.embed_query("a")
    assert server.seen[0].headers["Authorization"] == f"Bearer {key}"
    server.always = Fault("status", 401, f"bad key {key}")
    with pytest.raises(EmbedderError, match="401") as caught:
        model.embed_query("a")
    shown = "".join(traceback.format_exception(caught.value))
    for text in (str(caught.value), shown, model.name, repr(model)):
        assert key not in text


def test_any_llama_index_object_and_what_is_none() -> None:
    model = embedder(MockEmbedding(embed_dim=8))
    assert model.embed_documents(["a", "b"]).shape == (2, 8)
    assert model.name == "MockEmbedding/unknown"
    for wrong in (3, "auto", "gpt-4"):
        with pytest.raises(UsageError):
            embedder(wrong)
