"""What each command may not load: a real process tells with `-X importtime` every module that it imports."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from fakes.model_server import FakeServer
from fakes.two_article_corpus import QUESTION, indexed_home, play

Loaded = Callable[..., frozenset[str]]

NETWORKS = {"numpy", "onnxruntime", "tokenizers"}
LLAMA_INDEX = {"llama_index", "ollama", "sqlalchemy", "PIL", "yaml", "requests", "nltk"}
REMOTE = {"httpx", "httpcore", "qdrant_client", *LLAMA_INDEX}
RARE = {"pint", "inspect_ai", "scipy", "ray", "selectolax", "html_to_markdown", "pypdfium2", "lxml"}
STORES = {"qdrant_edge", "filelock"}


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return indexed_home(tmp_path_factory.mktemp("towns"))


@pytest.fixture
def loaded(indexed: Path, tmp_path: Path) -> Loaded:
    """Runs a command on a copy of the corpus; the outside modules it imported, by their first name."""
    shutil.copytree(indexed, tmp_path / "home")

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
        return frozenset(name.split(".")[0] for name in names if name not in ("llama_index", "llama_index.llms"))

    return run


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("cache",), ("history",), ("trace", "--help")])
def test_what_asks_no_corpus_loads_no_part_of_one(loaded: Loaded, arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & (NETWORKS | REMOTE | RARE | STORES) == set()


@pytest.mark.parametrize("arguments", [("corpus",), ("corpus", "status", "default"), ("show", "Aldermere")])
def test_looking_at_a_corpus_loads_no_model(loaded: Loaded, arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & (NETWORKS | REMOTE | RARE | STORES) == set()


def test_a_search_loads_the_encoder_once(loaded: Loaded) -> None:
    first = loaded("search", "Sunday bridge")
    assert first >= {"onnxruntime", "qdrant_edge"}
    assert first & (REMOTE | RARE) == set()
    assert loaded("search", "Sunday bridge") & NETWORKS == set()


def test_indexing_loads_the_encoder_alone(loaded: Loaded, tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text("# One\n\nA text.", encoding="utf-8")
    assert loaded("index", "one.md", "--corpus", "other", "-q") & (REMOTE | RARE) == set()


@pytest.mark.parametrize("strategy", ["iterative", "full"])
def test_a_question_that_is_repeated_loads_no_network(loaded: Loaded, strategy: str) -> None:
    command = ("ask", QUESTION, "--llm", "builtin", "--strategy", strategy, "-q")
    first = loaded(*command)
    assert first >= {"onnxruntime"}
    assert first & (REMOTE | RARE) == set()
    assert loaded(*command) & NETWORKS == set()


def test_doctor_asks_ollama_without_llama_index(loaded: Loaded, server: FakeServer) -> None:
    assert loaded("doctor", OLLAMA_HOST=server.url) & (LLAMA_INDEX | RARE) == set()


def _mayor(body: Mapping[str, Any]) -> str:
    """What the model of the towns replies, by either protocol."""
    form = body.get("format") or body["response_format"]["json_schema"]["schema"]
    return play(form, "\n".join(message["content"] for message in body["messages"]))


@pytest.mark.parametrize("kind", ["ollama", "openai-like"])
def test_llama_index_is_loaded_for_a_call_that_the_cache_lacks(loaded: Loaded, server: FakeServer, kind: str) -> None:
    server.reply = _mayor
    spec = {"ollama": "ollama/tiny:1b", "openai-like": f"openai-like/tiny:1b@{server.url}/v1"}[kind]
    command = ("ask", QUESTION, "--llm", spec, "-q")
    assert loaded(*command, OLLAMA_HOST=server.url) >= {"llama_index", "httpx"}
    calls = len(server.seen)
    assert loaded(*command, OLLAMA_HOST=server.url) & (NETWORKS | REMOTE | RARE) == set()
    assert len(server.seen) == calls


def test_a_server_s_embedder_is_asked_for_what_the_cache_lacks(loaded: Loaded, server: FakeServer) -> None:
    options = {"OLLAMA_HOST": server.url, "ITERATIVE_RAG_EMBEDDER": "ollama/tiny:1b"}
    Path("one.md").write_text("# Aldermere\n\nAldermere has a mayor.", encoding="utf-8")
    assert loaded("index", "one.md", "--corpus", "served", "-q", **options) >= {"llama_index"}
    command = ("search", "mayor", "--corpus", "served")
    assert loaded(*command, **options) >= {"llama_index"}
    calls = len(server.seen)
    assert loaded(*command, **options) & (LLAMA_INDEX | NETWORKS) == set()
    assert len(server.seen) == calls
