"""Gold titles find their documents however they are written, and never another one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import index_documents
from iterative_rag.evaluation.gold_articles import GoldIndex, paragraph_id
from iterative_rag.evaluation.records import Paragraph, Question
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.ingest import ingest
from iterative_rag.sources import open_source
from iterative_rag.types import Document

EN, DE = "https://en.wikipedia.org/wiki/", "https://de.wikipedia.org/wiki/"
# id: (title, url); what the id says is what a test looks for.
SHELF: dict[str, tuple[str, str | None]] = {
    "war": ("Ten Years' War (1454–1466)", EN + "Ten_Years%27_War_(1454%E2%80%931466)"),
    "cafe": ("Café “Holm”…", None),
    "holm": ("J. R. Holm", None),
    "aids-upper": ("AIDS", None),
    "aids-lower": ("Aids", None),
    "resume": ("Resume", None),
    "resume-accents": ("Résumé", None),
    "bridge": ("The bridge of Sunday", EN + "Sunday_bridge"),
    "german": ("Aldermere", DE + "Aldermere"),
    "cpp": ("C++", None),
    "c": ("C", None),
    "new": ("Brenwick upon Wend", None),
    "percent": ("100%25 proof", None),
    "bare": ("Corstowe", None),
}
Resolve = Callable[..., tuple[list[str], list[str]]]


@pytest.fixture
def resolve(tmp_path: Path) -> Iterator[Resolve]:
    """Gold titles -> ids and missing titles."""
    corpora, embedder = Corpora(tmp_path / "corpora"), HashingEmbedder(16)
    documents = [Document(one, title, f"About {title}.", "memory", url) for one, (title, url) in SHELF.items()]
    index_documents(corpora, "shelf", documents, embedder)
    with closing(corpora.open("shelf", embedder)) as corpus:

        def call(*titles: str) -> tuple[list[str], list[str]]:
            ids, missing = GoldIndex(corpus.catalogue()).resolve(Question("q", "?", (), gold_titles=titles))
            return list(ids), list(missing)

        yield call


@pytest.mark.parametrize(
    ("title", "document"),
    [
        ("Ten Years' War (1454–1466)", "war"),
        ("Ten_Years’_War_(1454-1466)", "war"),
        ("Ten_Years%27_War_(1454%E2%80%931466)", "war"),
        ('Cafe\u0301 "Holm"...', "cafe"),
        ("Cafe “Holm”", "cafe"),
        ("J.R. Holm", "holm"),
        ("AIDS", "aids-upper"),
        ("Aids", "aids-lower"),
        ("Résumé", "resume-accents"),
        ("Sunday bridge", "bridge"),
        ("C++", "cpp"),
        ("C", "c"),
        (DE + "Aldermere", "german"),
        ("https://de.m.wikipedia.org/wiki/Aldermere#Top", "german"),
        (DE + "Corstowe", "bare"),  # without a URL of its own it may be the German article
    ],
)
def test_a_title_finds_its_document(resolve: Resolve, title: str, document: str) -> None:
    assert resolve(title) == ([document], [])


@pytest.mark.parametrize("title", ["C#", "Ten Years' War", "Bridge", "https://fr.wikipedia.org/wiki/Aldermere", "100"])
def test_another_title_finds_nothing(resolve: Resolve, title: str) -> None:
    assert resolve(title) == ([], [title])


def test_markdown_pages_say_what_redirects_to_them(tmp_path: Path) -> None:
    matter = 'redirects: ["Old Brenwick", "Brenwick’s mill"]'
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "New.md").write_text(f"---\ntitle: New Brenwick\n{matter}\n---\n# New Brenwick\n\nA town.", "utf-8")
    (pages / "Plain.md").write_text("# Plain\n\nredirects: [Old Brenwick]", "utf-8")
    corpora, embedder = Corpora(tmp_path / "corpora"), HashingEmbedder(16)
    ingest([open_source(pages)], corpora, "pages", embedder)
    asked = Question("q", "?", (), gold_titles=("Brenwick's mill", "Old_Brenwick"))
    with closing(corpora.open("pages", embedder)) as corpus:
        [new] = corpus.find("New Brenwick")
        assert GoldIndex(corpus.catalogue()).resolve(asked) == ((new.id,), ())


def test_paragraphs_come_before_titles(tmp_path: Path) -> None:
    needed, twin, lost = (
        Paragraph("Brenwick", "It lies on the Wend.", True),
        Paragraph("Brenwick", "A ship.", False),
        Paragraph("Corstowe", "A tower.", True),
    )
    question = Question("q", "?", (), gold_titles=("Brenwick", "Corstowe"), paragraphs=(twin, needed, lost))
    corpora, embedder = Corpora(tmp_path / "corpora"), HashingEmbedder(16)
    pooled = [Document(paragraph_id(one), one.title, one.text, "memory") for one in (twin, needed)]
    articles = [Document("a", "Brenwick", "A long article.", "memory"), Document("b", "Corstowe", "Another.", "memory")]
    for name, documents, expected in (
        ("pooled", pooled, ((paragraph_id(needed),), ("Corstowe",))),
        ("articles", articles, (("a", "b"), ())),
    ):
        index_documents(corpora, name, documents, embedder)
        with closing(corpora.open(name, embedder)) as corpus:
            assert GoldIndex(corpus.catalogue()).resolve(question) == expected
