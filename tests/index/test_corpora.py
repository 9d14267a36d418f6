"""Opening, searching and describing corpora, and the errors that say what to type next."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import DictCache
from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusMismatch, CorpusNotFound, EmbedderError, UsageError
from iterative_rag.index.corpora import Corpora, IndexedCorpus
from iterative_rag.index.ingest import ingest
from iterative_rag.protocols import Corpus, Vectors
from iterative_rag.sources import open_source


@pytest.fixture
def indexed(corpora: Corpora, articles: Path, embedder: HashingEmbedder) -> Corpora:
    ingest([open_source(articles)], corpora, "small", embedder)
    return corpora


@pytest.fixture
def corpus(indexed: Corpora, embedder: HashingEmbedder) -> Iterator[IndexedCorpus]:
    with closing(indexed.open("small", embedder)) as opened:
        yield opened


def test_hits_point_into_their_documents(corpus: IndexedCorpus) -> None:
    protocol: Corpus = corpus
    [hits] = protocol.search(["Which niece acted as first lady?"], 3)
    assert hits[0].title == "Harriet Lane"
    assert "niece of James Buchanan" in corpus.document(hits[0].document_id).text[hits[0].start : hits[0].end]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_score_is_the_reciprocal_rank_fusion_of_both_ranks(corpus: IndexedCorpus) -> None:
    [hits] = corpus.search(["longest river of the Czech Republic"], 10)
    assert hits[0].dense_rank == 1
    assert hits[0].sparse_rank == 1
    for hit in hits:
        assert hit.score == pytest.approx(sum(1 / (60 + rank) for rank in (hit.dense_rank, hit.sparse_rank) if rank))
    # Only the dense half finds what shares no word with the query.
    assert any(hit.sparse_rank is None for hit in hits)


def test_a_title_that_is_not_there_names_the_nearest(corpus: IndexedCorpus) -> None:
    with pytest.raises(CorpusError, match="no document titled") as raised:
        corpus.find("James Bucanan")
    assert "'James Buchanan'" in raised.value.hint
    with pytest.raises(CorpusError) as raised:
        corpus.find("Elbe")
    assert "'River Elbe'" in raised.value.hint


class Unloadable(HashingEmbedder):
    def embed_query(self, text: str) -> Vectors:
        raise EmbedderError("The model must not be needed.")


def test_a_repeated_query_needs_no_model(indexed: Corpora, embedder: HashingEmbedder) -> None:
    cache = DictCache()
    with closing(indexed.open("small", embedder, cache=cache)) as first:
        expected = first.search(["river of Prague"], 3)
    with closing(indexed.open("small", Unloadable(64), cache=cache)) as second:
        assert second.search(["river of Prague"], 3) == expected
        with pytest.raises(EmbedderError):
            second.search(["another question"], 3)


def test_info_names_and_remove(indexed: Corpora, embedder: HashingEmbedder) -> None:
    info = indexed.info("small")
    assert (info.name, info.documents, info.passages, info.embedder, info.state) == (
        "small",
        4,
        4,
        "hashing-64",
        "ready",
    )
    assert info.bytes > 1000
    assert info.updated.startswith("20")
    assert indexed.names() == ["small"]
    indexed.remove("small")
    assert indexed.names() == []
    with pytest.raises(CorpusNotFound):
        indexed.info("small")


def test_a_missing_corpus_says_how_to_make_it(indexed: Corpora, embedder: HashingEmbedder) -> None:
    with pytest.raises(CorpusNotFound) as raised:
        indexed.open("smal", embedder)
    assert "Did you mean 'small'?" in raised.value.hint
    assert "iterative-rag index PATH --corpus smal" in raised.value.hint


@pytest.mark.parametrize("name", ["", "..", "../other", "a/b", ".hidden", "a:b", "x" * 101, "a\n"])
def test_names_cannot_leave_the_folder(corpora: Corpora, embedder: HashingEmbedder, name: str) -> None:
    with pytest.raises(UsageError):
        corpora.open(name, embedder)
    with pytest.raises(UsageError):
        corpora.remove(name)


def named(name: str) -> HashingEmbedder:
    """As if it had been chosen by `--embedder`, or with the package."""
    embedder = HashingEmbedder(32)
    embedder.name = name
    return embedder


def test_another_embedder_is_refused(corpora: Corpora, articles: Path) -> None:
    ingest([open_source(articles)], corpora, "small", named("ollama/words"))
    with pytest.raises(CorpusMismatch, match=r"ollama/words .* ollama/others") as raised:
        corpora.open("small", named("ollama/others"))
    assert "--embedder ollama/words" in raised.value.hint
    assert f"iterative-rag index {articles} --corpus small" in raised.value.hint


@pytest.mark.parametrize(("schema", "age"), [("0", "older"), ("99", "newer")])
def test_another_schema_is_refused(
    indexed: Corpora, embedder: HashingEmbedder, schema: str, age: str, articles: Path
) -> None:
    database = sqlite3.connect(indexed.root / "small" / "documents.sqlite")
    with closing(database), database:
        database.execute("UPDATE meta SET value = ? WHERE key = 'schema'", (schema,))
    with pytest.raises(CorpusMismatch, match=age):
        indexed.versions("small")
    with pytest.raises(CorpusMismatch, match=age) as raised:
        indexed.open("small", embedder)
    assert f"iterative-rag index {articles} --corpus small" in raised.value.hint
    assert ingest([open_source(articles)], indexed, "small", embedder).added == 4


def use(corpora: Corpora, embedder: HashingEmbedder) -> None:
    with closing(corpora.open("small", embedder)) as opened:
        hits = opened.search(["river"], 3)
        opened.titles()
        opened.document(hits[0][0].document_id)


DEEP = "[" * 90_000
SPOILED = {
    "a text": "documents SET text = x'00'",
    "a generation": "generations SET facts = '{'",
    "a deep generation": f"generations SET facts = '{DEEP}'",
    "deep metadata": f"documents SET metadata = '{DEEP}'",
}


def damage(folder: Path, how: str) -> None:
    vectors = folder / "vectors"
    if how == "no vectors":
        shutil.rmtree(vectors)
    elif how == "no segments":
        shutil.rmtree(vectors / "1" / "segments")
    elif how == "points lost":
        for path in vectors.rglob("*.mappings"):
            path.unlink()
    elif how == "no pin":
        (vectors / "1" / "pin").unlink()
    elif how in SPOILED:
        with closing(sqlite3.connect(folder / "documents.sqlite")) as database, database:
            database.execute(f"UPDATE {SPOILED[how]}")
    elif how == "junk in a segment":
        for path in vectors.rglob("payload_storage/page_0.dat"):
            with path.open("r+b") as file:
                file.write(b"\x07\xff" * 2000)
    elif how == "junk in the database":
        (folder / "documents.sqlite").write_bytes(b"junk" * 5000)
    elif how == "half a database":
        with (folder / "documents.sqlite").open("r+b") as file:
            file.truncate(6000)
    else:
        (folder / "documents.sqlite").unlink()


DAMAGES = ("no vectors", "no segments", "points lost", "no pin", *SPOILED, "junk in a segment")


@pytest.mark.parametrize("how", [*DAMAGES, "junk in the database", "half a database", "no database"])
def test_damage_is_said_and_mended_by_indexing_again(
    indexed: Corpora, embedder: HashingEmbedder, articles: Path, how: str
) -> None:
    damage(indexed.root / "small", how)
    with pytest.raises(CorpusDamaged) as raised:
        use(indexed, embedder)
    path = "PATH" if "database" in how else articles
    assert f"iterative-rag index {path} --corpus small" in raised.value.hint
    assert "small" in str(raised.value)
    ingest([open_source(articles)], indexed, "small", embedder)
    with closing(indexed.open("small", embedder)) as opened:
        assert opened.search(["longest river"], 1)[0][0].title == "Vltava"
        assert len(opened.titles()) == 4
    assert indexed.info("small").state == "ready"
