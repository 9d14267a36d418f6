"""Questions of passages on a Qdrant server: the same hits as from the embedded index, pushed and replaced with it."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from fakes.in_memory import DictCache, DocumentList
from fakes.in_memory_qdrant import InMemoryQdrant, server_place
from iterative_rag.app.factory.index_questions import IndexingBudget, passage_questions
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.index.ingest import IngestReport, ingest
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.settings import Settings
from iterative_rag.types import Document, Hit

pytestmark = pytest.mark.filterwarnings("ignore:Local mode performs exact")
QUERIES = ["Which hostess ran place 3?", "hostess", "bishop of place 5", "river"]


@pytest.fixture
def client() -> InMemoryQdrant:
    return InMemoryQdrant()


@pytest.fixture
def remote(tmp_path: Path, client: InMemoryQdrant) -> Corpora:
    return Corpora(tmp_path / "remote", place_of=lambda name, folder: server_place(client, name))


def shelf(word: str) -> list[Document]:
    return [
        Document(f"d{n}", f"Place {n}", f"A {word} flows through it past {n} mills and {n * 7} weirs.", "memory")
        for n in range(8)
    ]


def index(corpora: Corpora, documents: list[Document], embedder: HashingEmbedder, wanted: int = 2) -> IngestReport:
    def asked(request: object) -> dict[str, list[str]]:
        number = str(request).partition("Place ")[2][:1]
        return {"questions": [f"Which hostess ran place {number}?", f"Who was bishop of place {number}?"]}

    llm = ScriptedLLM({"questions": asked})
    questions = passage_questions(Settings(index_questions=wanted), DictCache(), IndexingBudget(), llm)
    return ingest([DocumentList(documents)], corpora, "small", embedder, questions=questions if wanted else None)


def hits(corpora: Corpora, embedder: HashingEmbedder) -> list[list[Hit]]:
    with closing(corpora.open("small", embedder)) as corpus:
        return corpus.search(QUERIES, 5)


def points(corpora: Corpora) -> int:
    with closing(corpora.place("small").load(corpora.info("small").documents and 1)) as store:
        return store.count()


def test_both_indexes_find_passages_by_the_same_questions(
    corpora: Corpora, remote: Corpora, embedder: HashingEmbedder
) -> None:
    for where in (corpora, remote):
        index(where, shelf("river"), embedder)
        assert (where.info("small").passages, where.info("small").questions) == (8, 16)
    found = hits(corpora, embedder)
    assert found == hits(remote, embedder)
    assert found[0][0].title == "Place 3"


def test_questions_of_changed_and_removed_documents_leave_the_server(
    remote: Corpora, embedder: HashingEmbedder
) -> None:
    index(remote, shelf("river"), embedder)
    report = index(remote, shelf("brook")[:2] + shelf("river")[2:6], embedder)
    assert (report.changed, report.unchanged, report.removed) == (2, 4, 2)
    assert remote.info("small").questions == 12
    assert points(remote) == 18


def test_questions_are_pushed_with_their_passages(
    corpora: Corpora, client: InMemoryQdrant, embedder: HashingEmbedder
) -> None:
    index(corpora, shelf("river"), embedder)
    report = corpora.push("small", server_place(client, "small"))
    assert report.points == 24
    there = Corpora(corpora.root, place_of=lambda name, folder: server_place(client, name))
    assert hits(there, embedder) == hits(corpora, embedder)
