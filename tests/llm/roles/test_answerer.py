"""The answerer: an answer with its citations, or what is missing."""

from __future__ import annotations

import pytest

from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.text.citation_markers import renumbered
from iterative_rag.types import Inquiry
from tests.llm.inquiries import INQUIRY, TRIED, answer, fact, roles


@pytest.mark.parametrize(
    ("text", "count", "expected", "cited"),
    [
        ("A [2], b [1], c [2].", 2, "A [1], b [2], c [1].", (1, 0)),
        ("A [1, 3].", 3, "A [1][2].", (0, 2)),
        ("A [1-3].", 3, "A [1][2][3].", (0, 1, 2)),
        ("A [fact 2]. B [Facts 1; 2].", 2, "A [1]. B [2][1].", (1, 0)),
        ("A [7], b [2].", 2, "A, b [1].", (1,)),
        ("A[2]. In [1997] it was 【1】 so.", 2, "A [1]. In it was [2] so.", (1, 0)),
        ("A [0] [-1] [x].", 2, "A [-1] [x].", ()),
        ("A.", 2, "A.", ()),
    ],
)
def test_markers_are_renumbered_in_order_of_first_use(
    text: str, count: int, expected: str, cited: tuple[int, ...]
) -> None:
    assert renumbered(text, count) == (expected, cited)


def test_an_answer_with_citations() -> None:
    reply = answer(answer="She was 37 [2], as the architect [1].", working="1911 - 1874 = 37")
    with ScriptedLLM({"answer": [reply]}) as llm:
        draft = roles(llm).answerer.answer(INQUIRY)
    assert draft.answered
    assert (draft.text, draft.short_answer) == ("She was 37 [1], as the architect [2].", "37")
    assert (draft.cited, draft.confidence, draft.missing) == ((1, 0), 0.9, "")


def test_an_uncited_answer_is_complained_about() -> None:
    replies = [answer(answer="She was 37."), answer(answer="She was 37 [1].")]
    with ScriptedLLM({"answer": replies}) as llm:
        draft = roles(llm).answerer.answer(INQUIRY)
    assert draft.cited == (0,)
    assert draft.confidence == 0.9
    assert "cites no fact" in llm.requests[1].user


def test_an_answer_that_stays_uncited_is_flagged() -> None:
    with ScriptedLLM({"answer": [answer(answer="She was 37 [9].")] * 2}) as llm:
        draft = roles(llm).answerer.answer(INQUIRY)
    assert (draft.text, draft.cited) == ("She was 37.", ())
    assert draft.confidence == 0.2
    assert draft.missing


def test_an_uncited_answer_that_a_quote_holds_cites_it() -> None:
    with ScriptedLLM({"answer": [answer(answer="It was 1911.", short_answer="1911")] * 2}) as llm:
        draft = roles(llm).answerer.answer(INQUIRY)
    assert (draft.text, draft.cited, draft.confidence) == ("It was 1911. [1]", (1,), 0.5)


@pytest.mark.parametrize("status", ["not_in_facts", "false_premise"])
def test_an_abstention_says_what_is_missing(status: str) -> None:
    reply = answer(status=status, answer="The tower was finished in 1911 [2].", short_answer="", missing="her birth")
    with ScriptedLLM({"answer": [reply]}) as llm:
        draft = roles(llm).answerer.answer(INQUIRY)
    assert not draft.answered
    assert "her birth" in draft.missing
    assert ("untrue" in draft.missing) == (status == "false_premise")
    assert draft.cited == (1,)


def test_without_facts_it_abstains_and_costs_nothing() -> None:
    with ScriptedLLM({}) as llm:
        draft = roles(llm).answerer.answer(Inquiry("Q?", "Q?", (), (TRIED,)))
    assert not draft.answered
    assert TRIED.question in draft.missing


def test_the_last_attempt_is_announced() -> None:
    with ScriptedLLM({"answer": [answer(answer="37 [1]")] * 2}) as llm:
        answerer = roles(llm).answerer
        answerer.answer(INQUIRY)
        answerer.answer(INQUIRY, last_attempt=True)
    assert ["last attempt" in request.user for request in llm.requests] == [False, True]


def test_many_facts_are_fitted_into_the_context() -> None:
    many = tuple(fact(f"Statement {n}.", quote="long quote " * 50) for n in range(60))
    with ScriptedLLM({"answer": [answer(answer="37 [60]")]}) as llm:
        roles(llm, context_window=4096).answerer.answer(Inquiry("Q?", "Q?", many))
    user = llm.requests[0].user
    assert "[60] Statement 59." in user
    assert len(user) < 3 * 4096
