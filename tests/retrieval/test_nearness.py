"""How near a shortlist and an article come to the words of a question, and what is shown of them."""

from __future__ import annotations

import pytest

from fakes.in_memory import MemoryCorpus
from iterative_rag.retrieval.article_parts import word_places
from iterative_rag.retrieval.nearness import QUOTE_CHARS, names_held, nearest_passages
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.types import Need, ShortlistedDocument

TOWER = "# Velm Tower\n\nVelm Tower was begun in 1900. The work took eleven years. It stands on a hill.\n"
CORPUS = MemoryCorpus(
    {"Velm Tower": TOWER, "Karsa library": "The library of Karsa was planned in 1890.", "Orra": "Orra is a bridge."}
)


def listed(question: str) -> tuple[ShortlistedDocument, ...]:
    (found,) = shortlist(CORPUS, [Need(question)], documents=3, passages=9)
    return found


@pytest.mark.parametrize(
    ("question", "share"),
    [
        ("When was Velm Tower begun?", 1.0),
        ("Who planned Velm Tower with Odile Brask?", 0.5),
        ("What is the capital of Mongolia?", 0.0),
        ("Please tell me how long the work at Velm Tower took", 1.0),
    ],
)
def test_names_that_stand_in_what_was_listed(question: str, share: float) -> None:
    assert names_held(question, CORPUS, listed(question)) == share


def test_the_nearest_passages_are_verbatim_and_numbered_on() -> None:
    question = "How many years did the work at Velm Tower take?"
    found = nearest_passages(question, CORPUS, listed(question), (), after=2)
    assert [one.n for one in found] == list(range(3, 3 + len(found)))
    assert found[0].title == "Velm Tower"
    assert not found[0].quote.startswith("#")
    for one in found:
        document = next(CORPUS.document(entry.document_id) for entry in listed(question) if entry.title == one.title)
        assert document.text[one.start : one.end] == one.quote
        assert 0 < len(one.quote) <= 2 * QUOTE_CHARS


# --- words in an article --------------------------------------------------------------------------


TEXT = (
    "# Port Sallow\n\nPort Sallow is a town with two harbours. Its portrait gallery was opened in 1911 by the Duke’s "
    "sister.\n\nThe town elected its first mayor in 1820. Mayor Edda Holm married Otto Brandt in 1950. They met at the "
    "Café Zoë—a well‑known inn.\n\n| Office | Holder |\n|---|---|\n| Harbour master | Ines Vane |\n"
)


def shown(words: str) -> tuple[bool, list[str]]:
    found = word_places(TEXT, words)
    assert found is not None
    return found.exact, [TEXT[start:end] for start, end in found.spans]


@pytest.mark.parametrize(
    ("words", "held"),
    [
        ("the duke's sister", "the Duke’s sister"),
        ("Cafe Zoe", "Café Zoë"),
        ("well-known inn", "well‑known inn"),
        ("harbour master", "| Harbour master |"),
    ],
    ids=["apostrophe", "accents", "hyphen", "row"],
)
def test_the_phrase_is_found_in_other_typography(words: str, held: str) -> None:
    exact, places = shown(words)
    assert exact
    assert held in places[0]


def test_a_phrase_leaves_out_what_only_has_its_words() -> None:
    assert shown("mayor Edda Holm") == (True, ["Mayor Edda Holm married Otto Brandt in 1950."])
    assert shown("Port Sallow")[1][-1].startswith("Port Sallow is")


def test_without_the_phrase_its_words_are_near_one_another_in_any_form() -> None:
    assert shown("first mayors")[1][0].startswith("The town elected its first mayor")
    assert shown("Otto Brandt marry") == (False, ["Mayor Edda Holm married Otto Brandt in 1950."])
    exact, (place,) = shown("elected Edda")
    assert not exact
    assert place.startswith("The town elected its first mayor in 1820. Mayor Edda Holm")


@pytest.mark.parametrize("words", ["lighthouse", "ports", "portable", "1912", "", "..."])
def test_a_word_that_only_begins_alike_is_another(words: str) -> None:
    found = word_places(TEXT, words)
    places = [TEXT[start:end] for start, end in found.spans] if found else []
    assert not any("portrait" in place or "1911" in place for place in places)
    assert bool(places) == (words == "ports")
