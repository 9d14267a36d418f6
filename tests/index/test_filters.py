"""Searching a part of a corpus: by title, source, section and language."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import index_documents
from iterative_rag.app.factory import for_one_run
from iterative_rag.errors import NothingWithin
from iterative_rag.index.corpora import Corpora, IndexedCorpus
from iterative_rag.index.filters import language_of
from iterative_rag.types import Document, Hit, Within

# Long enough that each section is cut into passages of its own.
LIFE = "She was born in a mill by the river and learnt to build bridges of stone. " * 12
WORK = "Her bridges of stone span the river at nine places, and one of them stands. " * 12
DOCUMENTS = [
    Document(
        "a",
        "Edda Holm",
        f"# Edda Holm\n\nA builder of bridges.\n\n## Early life\n\n{LIFE}\n\n## Work\n\n{WORK}",
        "/texts/people/Edda_Holm.md",
        "https://en.wikipedia.org/wiki/Edda_Holm",
    ),
    Document(
        "b",
        "Edda Holm (Schiff)",
        f"# Edda Holm (Schiff)\n\n## Geschichte\n\nDie Edda Holm war ein Schiff auf dem Fluss. {LIFE}",
        "/texts/ships/Edda_Holm.md",
        "https://de.wikipedia.org/wiki/Edda_Holm_(Schiff)",
    ),
    Document("c", "Sunday bridge", f"# Sunday bridge\n\n## Early life of the bridge\n\n{WORK}", "/texts/Sunday.md"),
    Document("d", "River", f"The river is long. {WORK}", "/texts/River.md", "https://simple.wikipedia.org/wiki/River"),
]
QUERY = "bridges of stone over the river"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IndexedCorpus]:
    corpora, embedder = Corpora(tmp_path_factory.mktemp("corpora")), HashingEmbedder(64)
    index_documents(corpora, "filtered", DOCUMENTS, embedder)
    with closing(corpora.open("filtered", embedder)) as opened:
        yield opened


def found(corpus: IndexedCorpus, wanted: Within) -> list[Hit]:
    with for_one_run(corpus, [wanted]) as part:
        return part.search([QUERY], 200)[0]


@pytest.mark.parametrize(
    ("wanted", "documents"),
    [
        (Within(), "abcd"),
        (Within(title="edda"), "ab"),
        (Within(title="Edda_Holm"), "ab"),
        (Within(title="*holm"), "a"),
        (Within(title="?iver"), "d"),
        (Within(source="ships"), "b"),
        (Within(source="/texts/*.md"), "abcd"),
        (Within(source="en.wikipedia.org"), "a"),
        (Within(source="Edda_Holm.md"), "ab"),
        (Within(language="de"), "b"),
        (Within(language="EN"), "a"),
        (Within(language="simple"), "d"),
    ],
    ids=str,
)
def test_only_what_is_meant_is_found_and_all_of_it(corpus: IndexedCorpus, wanted: Within, documents: str) -> None:
    assert {hit.document_id for hit in found(corpus, wanted)} == set(documents)


def test_nothing_meant_is_another_thing_than_nothing_found(corpus: IndexedCorpus) -> None:
    with pytest.raises(NothingWithin, match="No document matches --title Zeppelin --document-language fr") as raised:
        found(corpus, Within(title="Zeppelin", language="fr"))
    assert "Edda Holm" in raised.value.hint


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://de.wikipedia.org/wiki/X", "de"),
        ("https://zh-min-nan.m.wikipedia.org/wiki/X", "zh-min-nan"),
        ("https://fr.wiktionary.org/wiki/x", "fr"),
        ("https://www.wikidata.org/wiki/Q1", ""),
        ("https://de.example.org/wiki/X", ""),
        ("https://de.wikipedia.org.evil.example/", ""),
        ("http://[", ""),
        (None, ""),
    ],
)
def test_the_language_is_that_of_the_wiki(url: str | None, language: str) -> None:
    assert language_of(url) == language
