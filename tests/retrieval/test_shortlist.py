"""Which documents are listed for a need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from iterative_rag.retrieval.need_words import without_scaffolding
from iterative_rag.retrieval.shortlist import shortlist
from iterative_rag.types import Document, Hit, Need

FUSED = 60


@dataclass
class Ranked:
    """A corpus that finds the same passages for every query: (title, text, dense rank, BM25 rank), 0 for none."""

    found: Sequence[tuple[str, str, int, int]]
    name: str = "ranked"
    fingerprint: str = "1"

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        hits = []
        for title, text, *ranks in self.found:
            score = sum(1 / (FUSED + rank) for rank in ranks if rank)
            hits.append(Hit(title, title, 0, len(text), score, ranks[0] or None, ranks[1] or None))
        return [sorted(hits, key=lambda hit: -hit.score)[:limit] for _ in queries]

    def document(self, document_id: str) -> Document:
        (text,) = (text for title, text, *_ in self.found if title == document_id)
        return Document(document_id, document_id, text, f"{document_id}.md")

    def close(self) -> None:
        """Nothing is open."""


NOISE = [(f"Wedding {n}", f"The wedding of couple {n} and its spouse number n{n}.", n, n + 1) for n in range(1, 8)]


def test_of_texts_that_repeat_one_another_the_best_is_listed() -> None:
    """The same words with another number are another text."""
    told = "The mast of Karsa was drawn by Oda Brenk and built by her brother in the year 1870"
    texts = [("Mast", f"{told}.", 1, 1), ("Copy", f"{told}!", 2, 2), ("Other", told.replace("1870", "1871"), 3, 3)]
    (entries,) = shortlist(Ranked(texts), [Need("Who drew the mast?")], documents=2, passages=64)
    assert [entry.title for entry in entries] == ["Mast", "Other"]


@pytest.mark.parametrize(
    ("question", "query"),
    [
        ("As of August 3, 2024, how tall is the Orl mast?", "how tall is the Orl mast?"),
        ("How tall is the Orl mast, as of 2024?", "How tall is the Orl mast?"),
        ("Tell me about the builder of the Orl mast", "the builder of the Orl mast"),
        ("According to the article, which of the following is taller: Orl or Arl?", "is taller: Orl or Arl?"),
        ("Could you tell me who drew it?", "who drew it?"),
        ("Please tell me when", "Please tell me when"),
        ("According to Oda Velm, which mast is tallest?", "According to Oda Velm, which mast is tallest?"),
    ],
)
def test_words_that_ask_nothing_are_no_part_of_what_a_question_asks(question: str, query: str) -> None:
    assert without_scaffolding(question) == without_scaffolding(query) == query


def test_the_article_where_a_model_expects_the_fact_comes_first_if_there_is_one() -> None:
    corpus = Ranked([*NOISE, ("The Gate (film)", "Odo Walsh and his wife Ina.", 9, 9)])
    first = []
    for see in ("the gate (film)", "Gate", "The Gate (novel)", "The Wall"):
        (entries,) = shortlist(corpus, [Need("Who was his spouse?", see)], documents=3, passages=64)
        assert len(entries) == 3
        first.append(entries[0].title)
    assert first == ["The Gate (film)", "The Gate (film)", "Wedding 1", "Wedding 1"]
