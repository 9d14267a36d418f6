"""A slow embedder: what it has done is kept every few seconds, not only when a batch is full."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.index import ingest as ingest_module
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.ingest import ingest
from iterative_rag.protocols import Skipped, Vectors
from iterative_rag.sources import open_source
from iterative_rag.types import Document

DOCUMENTS = 60


def write_documents(folder: Path) -> None:
    folder.mkdir()
    for number in range(DOCUMENTS):
        (folder / f"{number:02}.txt").write_text(f"Document {number} is short.", encoding="utf-8")


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
