"""Codes, short names and adjectives of countries and organisations: what is one name, and what only looks so."""

from __future__ import annotations

import pytest

from iterative_rag.text.other_names import common_names, spelled_out


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *((code, "the United States") for code in ("the USA", "the U.S.A.", "the U. S.", "the US", "the us")),
        ("the UK's army", "the army of Great Britain"),
        ("Is the U.K. an island?", "Is Britain an island?"),
        ("a member of the USSR", "a member of the Soviet Union"),
        ("Who leads the WHO?", "Who leads the World Health Organization?"),
        ("who leads the un?", "who leads the United Nations?"),
        ("In Burma", "In Myanmar"),
        ("It won six Oscars.", "It won six Academy Awards."),
        ("Côte d’Ivoire", "Ivory Coast"),
        ("Holland won", "Netherlands won"),
        ("the Republic of Korea", "the South Korea"),
        ("the British prime minister", "the UK prime minister"),
        ("North Atlantic Treaty Organisation", "NATO"),
    ],
)
def test_one_name(one: str, other: str) -> None:
    def words(text: str) -> set[str]:
        return {word.strip("?.'").removesuffix("'s") for word in common_names(text).split()} - {"of", "the"}

    assert words(one) == words(other)


@pytest.mark.parametrize(
    "text",
    [
        "Tell us who wrote it at 5 PM.",
        "WHO WROTE IT FOR US?",
        "It cost US$5.",
        "Tom Holland and Dawn French",
        "Holland Park",
        "New Britain",
        "the States General",
        "He wrote it in French.",
        "the German translation",
        "a South American president",
        "the Korean War, Georgia, Congo, America, Guinea-Bissau and England",
    ],
)
def test_no_other_name(text: str) -> None:
    assert common_names(text) == text


def test_an_adjective_is_a_country_where_a_nationality_is_asked_for() -> None:
    assert common_names("He is American.", nationality=True) == "He is United States."
    assert common_names("He spoke in German.", nationality=True) == "He spoke in German."
    assert common_names("He is American.") == "He is American."


def test_offices_are_asked_for_in_full() -> None:
    assert spelled_out("Who was the 15th POTUS?") == "Who was the 15th president of the United States?"
    assert spelled_out("When did NATO begin in Holland?") == "When did NATO begin in Holland?"
