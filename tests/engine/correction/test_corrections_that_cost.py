"""What `full` spends on grades, other words and reading where every call costs; each case lost its fact before."""

from __future__ import annotations

from typing import Any

import pytest

from fakes import trophy_articles
from fakes.case_corpus import CaseCorpus
from fakes.scripted_llm import ScriptedLLM
from fakes.trophy_articles import BORN, NEED, QUOTE, VALUE, WINNER, graded_documents, model
from iterative_rag.types import CorrectionStep, FinalStep, GradingStep, ShortlistStep, Status, Step

QUESTION = f"{NEED} Say it in words."
SETTINGS = {"shortlist": 3, "passages": 10, "strategy": "full"}


@pytest.fixture(scope="module")
def articles(tmp_path_factory: pytest.TempPathFactory) -> CaseCorpus:
    folder = tmp_path_factory.mktemp("trophies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ITERATIVE_RAG_HOME", str(folder / "home"))
        trophy_articles.write_articles(folder / "articles")
        return CaseCorpus(folder / "articles", "trophies")


def run(articles: CaseCorpus, llm: ScriptedLLM, **settings: Any) -> list[Step]:
    with articles.opened(llm, **{**SETTINGS, **settings}) as rag:
        return list(rag.steps(QUESTION))


def outcome(steps: list[Step]) -> tuple[Status, str]:
    assert isinstance(steps[-1], FinalStep)
    return steps[-1].answer.status, steps[-1].answer.short_answer


def titles(step: ShortlistStep) -> list[str]:
    return [entry.title for entry in step.documents]


def read(llm: ScriptedLLM) -> list[str]:
    """The titles of the windows that were read."""
    return [
        title for request in llm.asked("extract") for title in trophy_articles.TEXTS if f"{title}\n" in request.user
    ]


def test_other_words_bring_the_unread_part_of_a_document_that_was_listed(articles: CaseCorpus) -> None:
    llm = model([[NEED]], {QUOTE: "Perfect", WINNER: "Poor"})
    steps = run(articles, llm)
    (correction,) = (step for step in steps if isinstance(step, CorrectionStep))
    assert WINNER in [entry.title for entry in correction.documents]
    assert outcome(steps) == (Status.ANSWERED, VALUE)


def test_a_grader_sees_how_a_document_begins_and_which_section_a_passage_is_in(articles: CaseCorpus) -> None:
    llm = model([[NEED]], {QUOTE: "Perfect"})
    run(articles, llm)
    first, second = (graded_documents(request) for request in llm.asked("grade")[:2])
    (winner,) = (text for text in first if WINNER in text)
    assert BORN in winner
    assert "## Seasons" in winner
    assert any("## Trophies" in text and BORN in text for text in second)


def test_what_is_poor_is_not_read_beside_what_is_good(articles: CaseCorpus) -> None:
    llm = model([[NEED]], {QUOTE: "Perfect", WINNER: "Poor", "stick ball": "Poor"})
    run(articles, llm)
    assert read(llm) == [WINNER]


def test_what_is_poor_is_read_by_the_wider_search_where_the_good_brought_nothing(articles: CaseCorpus) -> None:
    once = "Jann Uld was once named most valuable player of the league"
    llm = model([[NEED]] * 3, {WINNER: "Good", "stick ball": "Poor"}, quotes={once: "once"})
    steps = run(articles, llm, correction="off", passages=24)
    first, second = (step for step in steps if isinstance(step, ShortlistStep))
    assert "Jann Uld" in titles(first)
    assert "Jann Uld" in titles(second)
    assert WINNER not in titles(second)
    assert outcome(steps) == (Status.ANSWERED, "once")


def test_a_need_that_other_words_did_not_help_is_not_reworded_again(articles: CaseCorpus) -> None:
    llm = model([[NEED]] * 3, {}, quotes={}, phrasings=["stick ball bakery", "rye bread"])
    steps = run(articles, llm)
    assert len(llm.asked("reword")) == 1
    assert sum(isinstance(step, GradingStep) for step in steps) <= 3
    assert outcome(steps)[0] is Status.ABSTAINED
