"""Requests restated as questions."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.request_forms import first_question, restated
from tests.tables import table


@pytest.mark.parametrize(("request_text", "question"), table(__file__, "requests"))
def test_a_request_becomes_the_question_that_it_asks(request_text: str, question: str) -> None:
    assert restated(request_text) == question
    assert restated(question) == question


@pytest.mark.parametrize(
    "question",
    [
        "Which actor starred in Dawn and who was born in Orm?",
        "Where and when was Ann Orley born?",
        "Which film was written by Bo Li and in which Ann Orley plays?",
        "How many years passed between when Dawn came out and when was Dusk released?",
        "What band recorded When and Where?",
    ],
)
def test_what_may_belong_to_one_question_is_left_whole(question: str) -> None:
    assert first_question(question) == question
