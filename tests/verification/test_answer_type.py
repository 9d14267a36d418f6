"""The kind of answer that a question asks for, and which answers are refusals."""

from __future__ import annotations

import pytest

from fakes.tower_facts import INQUIRY, draft, fact
from iterative_rag.types import Draft, Inquiry, Need
from iterative_rag.verification.answer_type import is_of_kind, is_refusal, kind_asked
from tests.tables import table


@pytest.mark.parametrize(("question", "kind"), table(__file__, "kinds"))
def test_question_words_tell_what_is_asked(question: str, kind: str) -> None:
    assert kind_asked(question) == kind


def test_only_a_plain_mismatch_is_not_of_the_kind() -> None:
    assert not is_of_kind("How many towers stand in Karsa?", "the tower of Oda Brenk")
    assert is_of_kind("How many towers stand in Karsa?", "twelve towers of stone")
    assert is_of_kind("How many towers stand in Karsa?", "none")
    assert is_of_kind("How long does it take?", "from dawn until the evening")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("short", [short for (short,) in table(__file__, "refusals")])
def test_refusals_of_several_languages(short: str) -> None:
    assert is_refusal(INQUIRY, draft(f"{short} [1].", short))


@pytest.mark.parametrize("short", [short for (short,) in table(__file__, "answers")])
def test_answers_that_sound_like_refusals(short: str) -> None:
    assert not is_refusal(INQUIRY, draft(f"It is {short} [1].", short))


def test_a_word_of_refusal_that_a_cited_fact_holds_is_an_answer() -> None:
    film = fact(Need("Which film?"), "Unknown (2011 film)", "Unknown is a film of 2011.", "Unknown")
    inquiry = Inquiry("Which film?", "Which film?", (film,))
    assert not is_refusal(inquiry, Draft(True, "Unknown [1].", "Unknown", (0,)))
    assert is_refusal(inquiry, Draft(True, "Unknown.", "Unknown", ()))
