"""A citation is verified where its document holds its quote, letter by letter, at its place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.in_memory import MemoryCorpus
from fakes.sample_answers import ANSWERED, CITATION, FACT, HOP
from iterative_rag.errors import CorpusDamaged, CorpusError
from iterative_rag.evaluation.answer_modes import verified
from iterative_rag.evaluation.records import Cited
from iterative_rag.types import Answer, Citation, Document

QUOTE = FACT.quote
TEXT = "x" * FACT.start + QUOTE + " And more."


class OneDocument(MemoryCorpus):
    """One document; asking for another, or for any where `damaged`, fails as a real corpus does."""

    def __init__(self, text: str, *, damaged: bool = False) -> None:
        super().__init__({})
        self.documents = {"d1": Document("d1", "Sunday bridge", text, FACT.source)}
        self.damaged = damaged

    def document(self, document_id: str) -> Document:
        if self.damaged:
            raise CorpusDamaged("The documents cannot be read.")
        if document_id not in self.documents:
            raise CorpusError(f"No document {document_id!r}.")
        return self.documents[document_id]


def answer(*citations: Citation) -> Answer:
    """An answer whose one hop found FACT, in document d1."""
    return replace(ANSWERED, hops=(HOP,), citations=citations)


def test_a_quote_at_its_place_is_verified() -> None:
    assert verified(answer(CITATION), OneDocument(TEXT)) == (Cited("Sunday bridge", "d1", True),)
    assert verified(answer(), OneDocument(TEXT)) == ()


@pytest.mark.parametrize("text", ["", "y" + TEXT, TEXT.replace("oldest", "eldest"), TEXT.upper()])
def test_a_quote_that_is_not_there_letter_by_letter(text: str) -> None:
    assert verified(answer(CITATION), OneDocument(text)) == (Cited("Sunday bridge", "d1", False),)


@pytest.mark.parametrize(
    "change", [{"start": 11}, {"end": 63}, {"source": "elsewhere.md"}, {"title": "Monday bridge"}, {"quote": "The"}]
)
def test_a_citation_that_no_fact_stands_behind(change: dict[str, Any]) -> None:
    [found] = verified(answer(replace(CITATION, **change)), OneDocument(TEXT))
    assert (found.document_id, found.verified) == ("", False)


def test_a_document_that_is_gone_is_not_verified_but_a_broken_corpus_is_an_error() -> None:
    gone = OneDocument(TEXT)
    gone.documents.clear()
    assert verified(answer(CITATION), gone) == (Cited("Sunday bridge", "d1", False),)
    with pytest.raises(CorpusDamaged):
        verified(answer(CITATION), OneDocument(TEXT, damaged=True))
