"""Which answers are refusals, in several languages."""

from __future__ import annotations

import pytest

from fakes.tower_facts import INQUIRY, draft, fact
from iterative_rag.types import Draft, Inquiry, Need
from iterative_rag.verification.answer_type import is_refusal


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


def test_a_text_without_short_answer_is_a_refusal_only_as_a_whole() -> None:
    assert is_refusal(INQUIRY, draft("The facts do not say when. It is not known.", ""))
    assert not is_refusal(INQUIRY, draft("The facts do not say when. Oda Brenk designed it [1].", ""))
