"""Retrieval figures against values worked out by hand, and rankings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes.in_memory import MemoryCorpus
from iterative_rag.evaluation.records import Question
from iterative_rag.evaluation.retrieval_metrics import Ranking, figures, single
from iterative_rag.types import Hit

# --- the figures -----------------------------------------------------------------------------

RANKINGS = [
    # AP: (1/2 + 2/4) / 2
    Ranking(("a", "b"), ("x", "a", "y", "b")),
    Ranking(("c",), ("c", "x")),
    # nothing found at all
    Ranking(("d", "e", "f"), ()),
    # AP: (1/1 + 2/3) / 2
    Ranking(("g", "h"), ("g", "x", "h")),
]


def test_figures_are_those_worked_out_by_hand() -> None:
    found = figures(RANKINGS, [1, 2, 4])
    assert found["n"] == 4
    assert found["recall"] == pytest.approx({"1": (0 + 1 + 0 + 0.5) / 4, "2": (0.5 + 1 + 0.5) / 4, "4": 3 / 4})
    assert found["all_found"] == pytest.approx({"1": 1 / 4, "2": 1 / 4, "4": 3 / 4})
    assert found["map"] == pytest.approx((1 / 2 + 1 + 0 + 5 / 6) / 4)
    assert found["mrr"] == pytest.approx((1 / 2 + 1 + 0 + 1) / 4)
    for measure in ("map", "mrr"):
        low, high = found["intervals"][measure]
        assert 0 <= low < found[measure] < high <= 1
    assert {*found["intervals"]["recall"]} == {"1", "2", "4"}


# --- one query -------------------------------------------------------------------------------


def hit(document: str, score: float, dense: int | None, sparse: int | None) -> Hit:
    return Hit(document, document, 0, 1, score, dense, sparse)


HITS = [hit("a", 0.5, 3, 2), hit("b", 0.4, 1, None), hit("a", 0.3, 2, 9), hit("c", 0.2, None, 1), hit("b", 0.1, 9, 3)]


class Ranked(MemoryCorpus):
    """Its search gives the same hits for every query."""

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return [HITS[:limit] for _ in queries]


def test_documents_stand_where_their_best_passage_does() -> None:
    """a: 0.5 + 0.05 / 5; b: 0.4 + 0.05 / 4; c: 0.2 + 0.05 / 4"""
    corpus = Ranked(dict.fromkeys("abc", ""))
    for depth, documents in ((5, ("a", "b", "c")), (1, ("a",))):
        assert single([(Question("q", "q", ()), ("a",))], lambda _: corpus, depth=depth) == [Ranking(("a",), documents)]
