"""As many calls as are in flight reach a server at once: no pool of connections holds them up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fakes.model_server import FakeServer
from fakes.two_article_corpus import write_articles
from iterative_rag import IterativeRAG
from iterative_rag.app.factory import index_paths
from iterative_rag.index.embedders import embedder
from iterative_rag.index.server.server_address import parse_address
from iterative_rag.index.server.server_store import connected
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.protocols import ChatRequest
from iterative_rag.settings import Settings

AT_ONCE = 104  # more than the 100 connections that HTTP clients allow by themselves


def all_at_once(call: Callable[[], object]) -> None:
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for done in [threads.submit(call) for _ in range(AT_ONCE)]:
            done.result()


@pytest.fixture(params=["ollama/tiny:8b", "openai-like/tiny:8b@{url}/v1"])
def spec(request: pytest.FixtureRequest, server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    return str(request.param).format(url=server.url)


def test_calls_of_a_model(spec: str, server: FakeServer) -> None:
    model, _ = chat_model(spec, Settings())
    assert model is not None
    server.gather = AT_ONCE
    all_at_once(lambda: model.complete(ChatRequest("analyse", "Be brief.", "What is missing?")))
    assert server.peak == AT_ONCE


def test_calls_of_an_embedder(spec: str, server: FakeServer) -> None:
    model = embedder(spec)
    assert model.dimensions
    server.gather = AT_ONCE
    all_at_once(lambda: model.embed_query("Which river?"))
    assert server.peak == AT_ONCE


def test_questions_asked_from_many_threads(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", server.url)
    server.reply = '{"status": "stuck", "reason": "nothing is known"}'
    write_articles(tmp_path / "articles")
    index_paths([tmp_path / "articles"], settings=Settings(), corpus="towns")
    rag = IterativeRAG.from_settings(llm="ollama/tiny:8b", corpus="towns", calls_in_flight=AT_ONCE, cache=False)
    server.gather = AT_ONCE
    all_at_once(lambda: rag.ask("Which river flows through Tarn?"))
    rag.close()
    assert server.peak == AT_ONCE


def test_searches_of_a_qdrant_server(server: FakeServer) -> None:
    # Another name of 127.0.0.1, for which the client has no limit in any case.
    address = parse_address(server.url.replace("http://127.0.0.1", "qdrant://127.1"))
    client = connected(address)
    server.gather = AT_ONCE
    all_at_once(lambda: client.count("towns"))
    assert server.peak == AT_ONCE
