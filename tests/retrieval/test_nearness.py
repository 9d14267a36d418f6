"""How near a shortlist comes to a question, and what is shown of it."""

from __future__ import annotations

import pytest

from fakes.in_memory import MemoryCorpus
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
