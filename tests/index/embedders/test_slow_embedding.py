"""A slow embedder: what it has done is kept every few seconds, not only when a batch is full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fakes.model_server import FakeServer
from iterative_rag.index import ingest as ingest_module
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.index.ingest import ingest
from iterative_rag.protocols import Skipped, Vectors
from iterative_rag.sources import open_source
from iterative_rag.types import Document

DOCUMENTS = 60


def write_documents(folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"{number:02}.txt").write_text(f"Document {number} is short.", encoding="utf-8")


def embedded(server: FakeServer) -> int:
    """How many texts the server has been given, without the one that asks for the dimensions."""
    return sum(len(call.body["input"]) for call in server.calls("/api/embed") if isinstance(call.body["input"], list))


def test_killed_under_one_full_batch_it_goes_on_where_it_stopped(server: FakeServer, tmp_path: Path) -> None:
    folder = tmp_path / "articles"
    write_documents(folder)
    server.models = ("embed:1b",)

    def slow(text: str) -> list[float]:
        time.sleep(0.02)
        return [3.0, 4.0, 0.0, float(len(text) % 3)]

    server.vector = slow
    command = [sys.executable, "-m", "iterative_rag", "index", str(folder), "--corpus", "slow"]
    command += ["--embedder", "ollama/embed:1b"]
    environment = {**os.environ, "OLLAMA_HOST": server.url}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while embedded(server) < DOCUMENTS and process.poll() is None:
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    assert embedded(server) < ingest_module.BATCH
    kept = Corpora(tmp_path / "home" / "corpora").info("slow").documents
    assert 0 < kept < DOCUMENTS
    server.seen.clear()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"{DOCUMENTS - kept} added, 0 changed, {kept} unchanged" in done.stdout
    assert embedded(server) <= DOCUMENTS - kept + 3


class Timed(HashingEmbedder):
    """Takes `seconds` for each text, and keeps how many came at once."""

    def __init__(self, seconds: float) -> None:
        super().__init__(32)
        self.seconds = seconds
        self.sizes: list[int] = []

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.sizes.append(len(texts))
        time.sleep(self.seconds * len(texts))
        return super().embed_documents(texts)


def test_a_batch_is_what_is_embedded_between_two_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "COMMIT_SECONDS", 0.05)
    folder = tmp_path / "articles"
    write_documents(folder)
    slow = Timed(0.01)
    ingest([open_source(folder)], Corpora(tmp_path / "slow"), "c", slow)
    assert max(slow.sizes) <= 8
    assert sum(slow.sizes) == DOCUMENTS


def test_batches_are_full_where_embedding_is_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "BATCH", 16)
    monkeypatch.setattr(ingest_module, "COMMIT_SECONDS", 3600.0)
    folder = tmp_path / "articles"
    write_documents(folder)
    fast = Timed(0.0)
    ingest([open_source(folder)], Corpora(tmp_path / "fast"), "c", fast)
    # Two single ones: the second is on its way when the first comes back.
    assert fast.sizes == [1, 1, 8, 16, 16, 16, 2]


def test_what_is_embedded_is_kept_while_a_slow_source_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest_module, "COMMIT_SECONDS", 0.01)
    corpora, kept = Corpora(tmp_path / "corpora"), []

    class SlowSource:
        root, total = "slow", None

        def documents(self) -> Iterator[Document | Skipped]:
            for number in range(6):
                yield Document(str(number), f"Title {number}", f"Text {number}.", "slow")
                time.sleep(0.05)
                kept.append(corpora.info("c").documents)

    ingest([SlowSource()], corpora, "c", HashingEmbedder(32))
    assert kept[-1] >= 3
    with closing(corpora.open("c", HashingEmbedder(32))) as opened:
        assert len(opened.titles()) == 6
