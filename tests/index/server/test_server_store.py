"""A corpus whose vectors lie on a Qdrant server: the same results as from the embedded index, and no mix-ups."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import index_documents
from fakes.in_memory_qdrant import InMemoryQdrant, server_place
from iterative_rag.errors import CorpusDamaged, StoreError, StoreMissing, StoreUnreachable
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.filters import CorpusPart
from iterative_rag.index.server import server_store
from iterative_rag.types import Document

QUERIES = ["Which river has a castle, a bridge and a canal?", "queen battle treaty", "the monk of n7", "the of"]
TOLD = "river castle bridge market canal king queen painter harbour monk school battle treaty organ valley"
WORDS = TOLD.split()
COLLECTION = "iterative-rag-small"

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")


@pytest.fixture
def client() -> InMemoryQdrant:
    return InMemoryQdrant()


@pytest.fixture
def remote(tmp_path: Path, client: InMemoryQdrant) -> Corpora:
    """The corpora of another machine, their vectors on the server."""
    return Corpora(tmp_path / "remote", place_of=lambda name, folder: server_place(client, name))


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_store, "_PAUSES", (0.0, 0.0, 0.0))


def shelf(count: int, seed: int = 7) -> list[Document]:
    draw = random.Random(seed)
    return [
        Document(
            f"d{number:02}",
            f"Place {number}",
            " ".join(f"{' '.join(draw.choices(WORDS, k=draw.randint(9, 30)))} n{number}." for _ in range(8)),
            "memory",
        )
        for number in range(count)
    ]


def same(one: Corpora, other: Corpora, embedder: HashingEmbedder, name: str = "small") -> None:
    with closing(one.open(name, embedder)) as first, closing(other.open(name, embedder)) as second:
        assert first.search(QUERIES, 60) == second.search(QUERIES, 60)
        assert first.search(QUERIES, 5) == second.search(QUERIES, 5)
        parts = [CorpusPart(corpus, ["d01", "d03", "d05"]) for corpus in (first, second)]
        assert parts[0].search(QUERIES, 60) == parts[1].search(QUERIES, 60)
        assert first.search(QUERIES[:1], 5)[0]


def test_both_indexes_give_the_same_hits_also_after_changes(
    corpora: Corpora, remote: Corpora, embedder: HashingEmbedder
) -> None:
    documents = shelf(20)
    for where in (corpora, remote):
        index_documents(where, "small", documents, embedder)
    same(corpora, remote, embedder)
    changed = [*documents[:4], *shelf(8, seed=9)[4:], *documents[10:]]
    for where in (corpora, remote):
        index_documents(where, "small", changed, embedder)
    same(corpora, remote, embedder)
    with closing(remote.place("small").load(0)) as store:
        assert store.count() == remote.info("small").passages  # nothing of the old versions is left
    assert not (remote.root / "small" / "vectors").exists()
    assert remote.info("small").state == "ready"
    assert remote.info("small").place == f"qdrant://127.0.0.1:6333/{COLLECTION}"


def test_an_open_corpus_sees_what_is_written_meanwhile_and_no_half(
    remote: Corpora, embedder: HashingEmbedder, tmp_path: Path
) -> None:
    index_documents(remote, "small", shelf(10), embedder)
    with closing(remote.open("small", embedder)) as corpus:
        before = corpus.search(QUERIES, 5)
        with ThreadPoolExecutor(4) as pool:
            searches = [pool.submit(corpus.search, QUERIES, 5) for _ in range(20)]
            index_documents(
                remote, "small", [*shelf(9), Document("z", "Zeppelin", "A zeppelin landed.", "memory")], embedder
            )
            assert all(len(done.result()) == len(QUERIES) for done in searches)
        assert corpus.search(["zeppelin"], 1)[0][0].title == "Zeppelin"
        assert before[0]
        assert all(hit.document_id != "d09" for hits in corpus.search(QUERIES, 200) for hit in hits)


def test_a_server_that_stumbles_is_asked_again_and_one_that_is_down_ends_the_run(
    remote: Corpora, corpora: Corpora, client: InMemoryQdrant, embedder: HashingEmbedder
) -> None:
    from qdrant_client.http.exceptions import ResponseHandlingException

    stumbles = iter([True, False, True, True, False])

    def stumble(name: str) -> None:
        if name == "upsert" and next(stumbles, False):
            raise ResponseHandlingException(ConnectionError("connection reset"))

    client.fails = stumble
    index_documents(remote, "small", shelf(12), embedder)
    index_documents(corpora, "small", shelf(12), embedder)
    same(corpora, remote, embedder)

    def down(name: str) -> None:
        raise ResponseHandlingException(ConnectionError("connection refused"))

    client.fails = down
    with closing(remote.open("small", embedder)) as corpus, pytest.raises(StoreUnreachable) as raised:
        corpus.search(QUERIES, 5)
    assert "--index local" in raised.value.hint
    with pytest.raises(StoreUnreachable):
        index_documents(remote, "small", shelf(13), embedder)
    client.fails = lambda name: None
    index_documents(remote, "small", shelf(13), embedder)
    index_documents(corpora, "small", shelf(13), embedder)
    same(corpora, remote, embedder)


# --- whose collection it is ------------------------------------------------------------------


def test_the_collection_of_another_corpus_is_neither_read_nor_written_nor_removed(
    corpora: Corpora, remote: Corpora, client: InMemoryQdrant, embedder: HashingEmbedder
) -> None:
    """Two machines, one server, one name."""
    index_documents(remote, "small", shelf(5), embedder)
    third = Corpora(corpora.root.parent / "third", place_of=lambda name, folder: server_place(client, name))
    with pytest.raises(StoreError, match="was not made for this corpus"):
        index_documents(third, "small", shelf(2), embedder)
    with closing(remote.open("small", embedder)) as corpus:
        assert corpus.search(QUERIES, 3)[0]


def test_removed_where_it_is_kept_there_the_collection_goes_too(
    remote: Corpora, client: InMemoryQdrant, embedder: HashingEmbedder
) -> None:
    index_documents(remote, "small", shelf(3), embedder)
    remote.remove("small")
    assert not client.collection_exists(COLLECTION)
    assert remote.names() == []


def test_a_collection_that_vanished_or_lost_points_is_said_and_mended(
    remote: Corpora, client: InMemoryQdrant, embedder: HashingEmbedder
) -> None:
    index_documents(remote, "small", shelf(4), embedder)
    client.delete_collection(COLLECTION)
    with closing(remote.open("small", embedder)) as corpus, pytest.raises(StoreMissing) as missing:
        corpus.search(QUERIES, 3)
    assert "--index" in missing.value.hint
    index_documents(remote, "small", shelf(4), embedder)
    records, _ = client.scroll(COLLECTION, limit=2)
    client.delete(COLLECTION, [record.id for record in records])
    with closing(remote.open("small", embedder)) as corpus, pytest.raises(CorpusDamaged, match="holds") as damaged:
        corpus.search(QUERIES, 3)
    assert "iterative-rag index" in damaged.value.hint
    index_documents(remote, "small", shelf(4), embedder)
    with closing(remote.open("small", embedder)) as corpus:
        assert corpus.search(QUERIES, 3)[0]
