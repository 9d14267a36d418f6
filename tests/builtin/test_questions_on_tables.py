"""Questions on pages with tables and lists, asked of the built-in backend through the public API."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fakes.invented_articles import TABLE_PAGES
from iterative_rag import IterativeRAG
from iterative_rag.app.factory import index_paths
from iterative_rag.settings import load_settings
from iterative_rag.types import Status


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IterativeRAG]:
    base = tmp_path_factory.mktemp("tabled")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(base / "home"))
        folder = base / "pages"
        folder.mkdir()
        for title, text in TABLE_PAGES.items():
            (folder / f"{title}.md").write_text(text, encoding="utf-8")
        settings = load_settings({"llm": "builtin", "corpus": "tabled", "cache": False})
        index_paths([folder], settings=settings, corpus="tabled")
        opened = IterativeRAG.from_settings(settings)
        yield opened
        opened.close()


@pytest.mark.parametrize(
    ("question", "value", "citations"),
    [
        ("What is the third longest bridge of the Orr?", "Ferry Bridge", 1),
        ("What is the longest bridge of the Orr opened before 1900?", "King's Bridge", 1),
        ("How many bridges of the Orr are in Tellin?", "3", 3),
        ("Which bridges of the Orr are made of iron?", "King's Bridge and Sorrel Bridge", 2),
        ("Which rivers of Karsa flow into the Grey Sea?", "Orr and Tarn", 2),
        ("Who was mayor of Varnholm after Henrik Moll?", "Ada Thorne", 1),
        ("Which album of Nine Lamps was released in 1998?", "Tin Weather", 1),
    ],
)
def test_tables_answer_with_the_rows_they_rest_on(rag: IterativeRAG, question: str, value: str, citations: int) -> None:
    answer = rag.ask(question)
    assert answer.status is Status.ANSWERED
    assert answer.short_answer == value
    assert len(answer.citations) == citations
    assert all(citation.quote in TABLE_PAGES[citation.title] for citation in answer.citations)


@pytest.mark.parametrize(
    "question",
    [
        "How many people live in Port Elm?",
        "Who was the ninth mayor of Varnholm?",
        "Which countries border on Karsa?",
    ],
)
def test_what_no_table_holds_is_not_answered(rag: IterativeRAG, question: str) -> None:
    assert rag.ask(question).status is Status.ABSTAINED
