"""A corpus answers as before until what replaces it is complete, also where its files are damaged."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.errors import CorpusError
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.ingest import ingest
from iterative_rag.protocols import Vectors
from iterative_rag.sources import open_source

FOUND = "Vltava"


@pytest.fixture
def indexed(corpora: Corpora, articles: Path, embedder: HashingEmbedder) -> Corpora:
    ingest([open_source(articles)], corpora, "small", embedder)
    return corpora


def answers(corpora: Corpora, embedder: HashingEmbedder) -> tuple[str, list[str]]:
    with closing(corpora.open("small", embedder)) as corpus:
        return corpus.search(["longest river"], 1)[0][0].title, corpus.titles()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but the locks and SQLite's own index of its log."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]
    return {str(path): path.read_bytes() for path in paths if not path.name.endswith(("-shm", "-wal"))}


class Fails(HashingEmbedder):
    """Breaks down after its first call."""

    calls = 0

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        if self.calls > 1:
            raise CorpusError("The embedder is gone.")
        return super().embed_documents(texts)


def test_a_corpus_is_searched_until_what_replaces_it_is_complete(
    indexed: Corpora, articles: Path, embedder: HashingEmbedder
) -> None:
    before = answers(indexed, embedder)
    with pytest.raises(CorpusError, match="gone"):
        ingest([open_source(articles)], indexed, "small", Fails(32))
    assert answers(indexed, embedder) == before
    ingest([open_source(articles)], indexed, "small", HashingEmbedder(32))
    assert answers(indexed, HashingEmbedder(32))[1] == before[1]


def spoil(database: Path, how: str) -> None:
    if how == "junk":
        database.write_bytes(b"junk" * 5000)
    elif how == "half":
        os.truncate(database, 6000)
    else:
        with database.open("r+b") as file:  # a page in its middle: much of it can still be read
            file.seek(database.stat().st_size // 8192 * 4096)
            file.write(b"\x07\xff" * 2048)


@pytest.mark.parametrize("how", ["junk", "half", "page"])
def test_a_damaged_database_is_made_anew_from_paths_that_are_there(
    indexed: Corpora, articles: Path, embedder: HashingEmbedder, how: str
) -> None:
    folder = indexed.root / "small"
    spoil(folder / "documents.sqlite", how)
    before = contents(folder)
    with pytest.raises(CorpusError, match="There is no file or folder"):
        ingest([open_source(articles / "mistyped")], indexed, "small", embedder)
    assert contents(folder) == before
    ingest([open_source(articles)], indexed, "small", embedder)
    assert answers(indexed, embedder)[0] == FOUND
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"vectors", "locks"}
    assert indexed.info("small").state == "ready"
