"""Words that are looked for in an article: the phrase first, then its words near one another."""

from __future__ import annotations

import pytest

from iterative_rag.retrieval.word_places import Nearness, word_places

TEXT = (
    "# Port Sallow\n\nPort Sallow is a town with two harbours. Its portrait gallery was opened in 1911 by the Duke’s "
    "sister.\n\nThe town elected its first mayor in 1820. Mayor Edda Holm married Otto Brandt in 1950. They met at the "
    "Café Zoë—a well‑known inn.\n\n| Office | Holder |\n|---|---|\n| Harbour master | Ines Vane |\n"
)


def shown(words: str) -> tuple[str, list[str]]:
    found = word_places(TEXT, words)
    assert found is not None
    return found.nearness.value, [TEXT[start:end] for start, end in found.spans]


@pytest.mark.parametrize(
    ("words", "held"),
    [
        ("the duke's sister", "the Duke’s sister"),
        ("Cafe Zoe", "Café Zoë"),
        ("well-known inns", "well‑known inn"),
        ("first mayors", "first mayor"),
        ("harbour", "two harbours"),
        ("harbour masters", "| Harbour master |"),
    ],
    ids=["apostrophe", "accents", "hyphen and plural", "plural", "singular", "row"],
)
def test_the_phrase_is_found_in_other_typography_and_number(words: str, held: str) -> None:
    nearness, places = shown(words)
    assert nearness == Nearness.PHRASE
    assert held in places[0]


def test_a_phrase_leaves_out_what_only_has_its_words() -> None:
    assert shown("mayor Edda Holm") == ("phrase", ["Mayor Edda Holm married Otto Brandt in 1950."])
    assert shown("Port Sallow")[1][-1].startswith("Port Sallow is")


def test_without_the_phrase_its_words_are_near_one_another_in_any_form() -> None:
    assert shown("Otto Brandt marry") == ("near", ["Mayor Edda Holm married Otto Brandt in 1950."])
    nearness, (place,) = shown("elected Edda")
    assert nearness == Nearness.NEAR
    assert place.startswith("The town elected its first mayor in 1820. Mayor Edda Holm")


@pytest.mark.parametrize("words", ["lighthouse", "ports", "portable", "1912", "", "..."])
def test_a_word_that_only_begins_alike_is_another(words: str) -> None:
    found = word_places(TEXT, words)
    places = [TEXT[start:end] for start, end in found.spans] if found else []
    assert not any("portrait" in place or "1911" in place for place in places)
    assert bool(places) == (words == "ports")
