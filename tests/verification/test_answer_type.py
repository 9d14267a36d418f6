"""The kind of answer that a question asks for, and which answers are refusals."""

from __future__ import annotations

import pytest

from fakes.tower_facts import INQUIRY, draft, fact
from iterative_rag.types import Draft, Inquiry, Need
from iterative_rag.verification.answer_type import Asked, is_of_kind, is_refusal, kind_asked


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many towers stand in Karsa?", Asked.NUMBER),
        ("In which year was it finished?", Asked.TIME),
        ("Wie viele Türme stehen in Karsa?", Asked.NUMBER),
        ("Wann wurde er gebaut?", Asked.TIME),
        ("Quand est-elle née ?", Asked.TIME),
        ("¿Cuántos años tenía?", Asked.NUMBER),
        ("Who designed the tower when it was built?", Asked.ANY),
        ("What is the name?", Asked.ANY),
    ],
)
def test_question_words_tell_what_is_asked(question: str, kind: Asked) -> None:
    assert kind_asked(question) is kind


def test_only_a_plain_mismatch_is_not_of_the_kind() -> None:
    assert not is_of_kind("How many towers stand in Karsa?", "the tower of Oda Brenk")
    assert is_of_kind("How many towers stand in Karsa?", "twelve towers of stone")
    assert is_of_kind("How many towers stand in Karsa?", "none")
    assert is_of_kind("How long does it take?", "from dawn until the evening")


# --- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "short",
    [
        "I don't know",
        "unknown",
        "Not found.",
        "cannot be determined from the given facts",
        "Based on the facts given, it cannot be determined",
        "Unfortunately, it is not known",
        "The facts provided do not mention it",
        "The facts do not state it",
        "not enough information",
        "Nicht gefunden",
        "Das lässt sich nicht bestimmen",
        "Keine Angaben in den Fakten",
        "Ne peut pas être déterminé",
        "No se puede determinar con los hechos dados",
        "Non è noto",
        "Não se sabe",
        "неизвестно",
        "不明",
    ],
)
def test_refusals_of_several_languages(short: str) -> None:
    assert is_refusal(INQUIRY, draft(f"{short} [1].", short))


@pytest.mark.parametrize(
    "short",
    [
        "I Don't Know How She Does It",
        "The Unknown",
        "Nobody Knows",
        "Information Society",
        "I Know Where I'm Going!",
        "No",
        "None",
        "37",
        "Cannot and Sons",
        "The Not Found Band",
        "Unbekannter Soldat",
    ],
)
def test_answers_that_sound_like_refusals(short: str) -> None:
    assert not is_refusal(INQUIRY, draft(f"It is {short} [1].", short))


def test_a_word_of_refusal_that_a_cited_fact_holds_is_an_answer() -> None:
    film = fact(Need("Which film?"), "Unknown (2011 film)", "Unknown is a film of 2011.", "Unknown")
    inquiry = Inquiry("Which film?", "Which film?", (film,))
    assert not is_refusal(inquiry, Draft(True, "Unknown [1].", "Unknown", (0,)))
    assert is_refusal(inquiry, Draft(True, "Unknown.", "Unknown", ()))
