"""The reranker ranks the answering passage above those that only share its words."""

from __future__ import annotations

from iterative_rag.builtin.reranker import ReaderReranker
from iterative_rag.protocols import Reranker

PASSAGES = [
    ("Aldermere", "Aldermere is a market town with a bridge over the river Tarn."),
    ("Sunday bridge", "The Sunday bridge was built in 1804 by the engineer Edda Holm."),
    ("Edda Holm", "Many bridges were built in those years, most of them of wood."),
    ("Blank", " "),
]


def test_the_answering_passage_is_the_most_relevant() -> None:
    reranker: Reranker = ReaderReranker()
    scores = reranker.relevance("Who built the Sunday bridge?", PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert max(scores) == scores[1] > 0.5
    assert scores[3] == 0.0
    assert all(0 <= score <= 1 for score in scores)
    assert reranker.relevance("Who built it?", []) == []
    assert reranker.name.startswith("builtin/")
