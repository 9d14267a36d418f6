"""What README and quickstart ask of the starter corpus, with the built-in models: a user sees these answers first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fakes.readme_question import QUESTION, SHORT_ANSWER
from iterative_rag import IterativeRAG
from iterative_rag.settings import load_settings


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Iterator[IterativeRAG]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(tmp_path_factory.mktemp("home")))
        with IterativeRAG.from_settings(load_settings({"llm": "builtin", "corpus": "starter", "cache": False})) as rag:
            yield rag


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (QUESTION, SHORT_ANSWER),
        ("Which river flows through Prague?", "Vltava"),
        ("Who was the uncle of Harriet Lane?", "James Buchanan"),
        ("Why was the Eiffel Tower built?", "World's Fair"),
    ],
)
def test_the_questions_of_the_readme_are_answered(rag: IterativeRAG, question: str, expected: str) -> None:
    answer = rag.ask(question)
    assert expected in f"{answer.short_answer} {answer.text}"
