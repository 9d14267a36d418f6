"""What each command may not load: a real process tells with `-X importtime` every module that it imports."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from fakes.model_server import FakeServer
from fakes.two_article_corpus import QUESTION
from tests.cli.conftest import played

Loaded = Callable[..., frozenset[str]]

NETWORKS = {"numpy", "onnxruntime", "tokenizers"}
LLAMA_INDEX = {"llama_index", "ollama", "sqlalchemy", "PIL", "yaml", "requests", "nltk"}
REMOTE = {"httpx", "httpcore", "qdrant_client", *LLAMA_INDEX}
RARE = {"pint", "inspect_ai", "scipy", "ray", "selectolax", "html_to_markdown", "pypdfium2", "lxml"}
STORES = {"qdrant_edge", "filelock"}
# Ours that a question does without, and those that one does without whose answer is in the cache.
UNASKED = {f"iterative_rag.{name}" for name in ("app.conversations", "cli.doctor", "index.collections", "index.zim")}
UNREAD = {f"iterative_rag.builtin.{name}" for name in ("reading.page_reader", "tables.table_answers")}


@pytest.fixture
def loaded(towns: None) -> Loaded:
    """Runs a command on a copy of the corpus; the modules it imported, those from outside by their first name."""

    def run(*arguments: str, code: int = 0, **environment: str) -> frozenset[str]:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "iterative_rag", *arguments],
            capture_output=True,
            text=True,
            encoding="utf-8",
            env={**os.environ, **environment},
            timeout=120,
        )
        assert done.returncode == code, done.stderr[-2000:]
        told = [line.split("|") for line in done.stderr.splitlines() if line.startswith("import time:")]
        names = {parts[2].strip() for parts in told if len(parts) == 3}
        assert "iterative_rag" in names
        # An empty namespace that its packages share is no part of LlamaIndex.
        outside = {name.split(".")[0] for name in names if name not in ("llama_index", "llama_index.llms")}
        return frozenset(outside | {name for name in names if name.startswith("iterative_rag.")})

    return run


@pytest.mark.parametrize("arguments", [("--help",), ("history",), ("corpus", "status", "default")])
def test_what_asks_no_corpus_loads_no_part_of_one(loaded: Loaded, arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & (NETWORKS | REMOTE | RARE | STORES) == set()


def test_a_search_loads_the_encoder_once(loaded: Loaded) -> None:
    first = loaded("search", "Sunday bridge")
    assert first >= {"onnxruntime", "qdrant_edge"}
    assert first & (REMOTE | RARE) == set()
    assert loaded("search", "Sunday bridge") & NETWORKS == set()


def test_a_question_that_is_repeated_loads_no_network(loaded: Loaded) -> None:
    command = ("ask", QUESTION, "--llm", "builtin")
    first = loaded(*command)
    assert first >= {"onnxruntime", *UNREAD}
    assert first & (REMOTE | RARE | UNASKED) == set()
    assert loaded(*command) & (NETWORKS | UNREAD | {"asyncio", "rich"}) == set()


def test_llama_index_is_loaded_for_a_call_that_the_cache_lacks(loaded: Loaded, server: FakeServer) -> None:
    server.reply = played
    command = ("ask", QUESTION, "--llm", "ollama/tiny:8b", "-q")
    assert loaded(*command, OLLAMA_HOST=server.url) >= {"llama_index", "httpx"}
    calls = len(server.seen)
    assert loaded(*command, OLLAMA_HOST=server.url) & (NETWORKS | REMOTE | RARE) == set()
    assert len(server.seen) == calls
