"""Which values a plan is worked out from, for facts as the engine hands them over."""

from __future__ import annotations

import pytest

from fakes.index_free_loop import ROLES
from iterative_rag.types import Fact, Inquiry, Need

LUND, VALE = "When was Bo Lund born?", "When was Ada Vale born?"


def fact(need: str, value: str, title: str, score: float = 0.8) -> Fact:
    quote = f"{title} was born in {value}."
    return Fact(quote, quote, value, title, title, f"{title}.md", 0, len(quote), Need(need), score)


@pytest.mark.parametrize("title", ["Bo Lund", "Bo Lund (painter)"])
def test_a_comparison_takes_the_value_from_the_article_on_its_subject(title: str) -> None:
    asked = "Who was born first, Bo Lund or Ada Vale?"
    facts = (fact(LUND, "1850", "Bo Lund Reed", 0.9), fact(LUND, "1901", title, 0.7), fact(VALE, "1880", "Ada Vale"))
    inquiry = Inquiry(asked, asked, facts, tried=(Need(LUND), Need(VALE)))
    draft = ROLES.answerer.answer(inquiry)
    assert draft.short_answer == "Ada Vale"
    assert {facts[place].title for place in draft.cited} == {title, "Ada Vale"}


def test_without_an_article_on_its_subject_a_comparison_takes_the_surest_value() -> None:
    asked = "Who was born first, Bo Lund or Ada Vale?"
    facts = (fact(LUND, "1850", "Painters of Orm", 0.9), fact(LUND, "1901", "Orm", 0.7), fact(VALE, "1880", "Ada Vale"))
    inquiry = Inquiry(asked, asked, facts, tried=(Need(LUND), Need(VALE)))
    assert ROLES.answerer.answer(inquiry).short_answer == "Bo Lund"


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("In what year did Bo Lund, who left the 1950 Orm Race, win the Tellby Cup?", "1937"),
        ("In what year did Bo Lund win the Tellby Cup, 1950 or 1937?", "1950"),
    ],
)
def test_a_value_that_only_repeats_the_question_comes_last_unless_that_offers_a_choice(asked: str, given: str) -> None:
    facts = (fact(asked, "1950", "Bo Lund", 0.9), fact(asked, "1937", "Bo Lund", 0.88))
    inquiry = Inquiry(asked, asked, facts, tried=(Need(asked),))
    assert ROLES.answerer.answer(inquiry).short_answer == given
