"""What becomes of the trust in a value when a small model reads after the built-in reader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest

from iterative_rag.builtin.reasoning.second_reading import SecondReading
from iterative_rag.retrieval.need_reading import fact_at
from iterative_rag.types import Document, Extract, Fact, Need, Sentence, Support

NEED = Need("How many arches has Velm Bridge?")
TEXT = "Velm Bridge has thirty arches. It was opened by Oda Brenk with twelve guests."
DOCUMENT = Document("velm", "Velm Bridge", TEXT, "velm.md")


class OneDocument:
    def document(self, document_id: str) -> Document:
        return DOCUMENT


@dataclass(frozen=True)
class Said:
    """A model that always finds the same."""

    value: str

    def read(self, need: Need, sentences: Sequence[Sentence]) -> tuple[Sentence, str]:
        return sentences[0], self.value


def confirmed(trust: float, said: str, support: Support) -> list[tuple[str, float]]:
    extract = Extract(TEXT[:30], TEXT[:30], "thirty", trust)

    def check(fact: Fact, text: str) -> Fact:
        return replace(fact, support=support)

    facts = SecondReading(Said(said), check).confirm(NEED, [fact_at(DOCUMENT, 0, 30, NEED, extract)], OneDocument())
    return [(fact.value, fact.score) for fact in facts]


@pytest.mark.parametrize(
    ("trust", "said", "expected"),
    [
        (0.45, "thirty arches", 0.65),
        (0.45, "30", 0.65),
        (0.9, "thirty", 0.9),
        (0.3, "thirty", 0.3),
        (0.6, "twelve", 0.4),
        (0.6, "", 0.4),
        (0.8, "twelve", 0.8),
    ],
)
def test_agreement_counts_where_the_builtin_reader_is_half_sure(trust: float, said: str, expected: float) -> None:
    assert confirmed(trust, said, Support.SILENT) == [("thirty", expected)]


def test_what_the_model_alone_finds_goes_first_where_its_sentence_bears_it_out() -> None:
    assert confirmed(0.9, "Oda Brenk", Support.AGREES) == [("Oda Brenk", 0.65), ("thirty", 0.4)]
    assert confirmed(0.9, "Oda Brenk", Support.DISAGREES) == [("thirty", 0.9)]
