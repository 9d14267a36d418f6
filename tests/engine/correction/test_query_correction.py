"""Query correction: what is searched for, and how the lists are fused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from iterative_rag.engine.correction.corrector import search_reworded
from iterative_rag.types import Document, Hit, Need, Rewording, ShortlistedDocument

NEED = Need("Who designed Velm Tower?")


# --- searching ---------------------------------------------------------------------------------


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
        return Document(document_id, document_id, "x" * 500, f"{document_id}.md")

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


def test_hits_of_all_lists_come_with_a_document_each_once() -> None:
    corpus = Listed({"one": [("a", 1)], "two": [("b", 1), ("a", 2)], "broad": [("a", 3)]})
    (first, *_) = search_reworded(corpus, NEED, Rewording(("one", "two"), "broad"), documents=8, passages=8)
    assert [(hit.start, hit.score) for hit in first.hits] == [(10, 1 / 61), (20, 1 / 62)]


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
