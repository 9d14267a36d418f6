"""The verdict on a shortlist at its thresholds, and what other words for a need find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from iterative_rag.engine.corrector import search_reworded, verdict
from iterative_rag.types import Document, Hit, Need, Rewording, ShortlistedDocument, Verdict
from iterative_rag.types.correcting import scored


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], Verdict.INCORRECT),
        ([0.0, 0.299], Verdict.INCORRECT),
        ([0.3], Verdict.AMBIGUOUS),
        ([0.7, 0.1], Verdict.AMBIGUOUS),
        ([0.0, 0.701], Verdict.CORRECT),
    ],
)
def test_the_best_grade_decides_at_its_bounds(scores: list[float], expected: Verdict) -> None:
    assert verdict([scored(score, "") for score in scores]) is expected


NEED = Need("Who designed Velm Tower?")


@dataclass
class Listed:
    """A corpus that finds what it is told to: query -> (document, dense rank) in the order of the fused list."""

    found: dict[str, list[tuple[str, int | None]]]
    calls: list[list[str]] = field(default_factory=list)
    name: str = "listed"
    fingerprint: str = "1"

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        self.calls.append(list(queries))
        return [
            [
                Hit(name, name, 10 * place, 10 * place + 9, 1 / (60 + place), dense, None if dense else 1)
                for place, (name, dense) in enumerate(self.found.get(query, []), start=1)
            ][:limit]
            for query in queries
        ]

    def document(self, document_id: str) -> Document:
        return Document(document_id, document_id, f"{document_id} " * 99, f"{document_id}.md")

    def close(self) -> None:
        pass


def test_everything_is_searched_at_once_and_fused_by_reciprocal_rank() -> None:
    corpus = Listed({"one": [("a", 1), ("both", 2)], "two": [("b", 1), ("both", 2)], "broad": [("a", 9)]})
    rewording = Rewording(("one", "two", "one"), "broad", "passage")
    found = search_reworded(corpus, NEED, rewording, documents=2, passages=8)
    assert corpus.calls == [["one", "two", "broad", "passage"]]
    assert [entry.document_id for entry in found] == ["a", "both"]
    assert found[1].score == pytest.approx(2 / 62)
    assert found[1].source == "both.md"
    assert len(found[1].hits) == 1


def test_the_passage_is_ranked_by_meaning_alone() -> None:
    corpus = Listed({"It stands.": [("words only", None), ("far", 7), ("near", 1)]})
    found = search_reworded(corpus, NEED, Rewording((), "", "It stands."), documents=8, passages=8)
    assert [entry.document_id for entry in found] == ["near", "far"]


def test_documents_that_are_known_make_room_for_others() -> None:
    listed: list[tuple[str, int | None]] = [(f"known {n}", n) for n in range(1, 30)]
    corpus = Listed({"one": [*listed, ("new", 30)]})

    def unread(entry: ShortlistedDocument) -> ShortlistedDocument | None:
        return None if entry.document_id.startswith("known") else entry

    found = search_reworded(corpus, NEED, Rewording(("one",)), documents=2, passages=64, unread=unread, known=29)
    assert [entry.document_id for entry in found] == ["new"]


def test_nothing_to_search_with_finds_nothing() -> None:
    corpus = Listed({NEED.question: [("a", 1)]})
    for nothing in (Rewording(), Rewording(("",), " ", "\n"), Rewording((NEED.question,), "", NEED.question)):
        assert search_reworded(corpus, NEED, nothing, documents=8, passages=8) == ()
    assert corpus.calls == []
