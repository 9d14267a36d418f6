"""The verdict on a shortlist at its thresholds, and what other words for a need find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from iterative_rag.engine.correction.corrector import search_reworded, verdict
from iterative_rag.llm.replies.grading_forms import GradesReply
from iterative_rag.llm.replies.json_parsing import parse
from iterative_rag.settings import Settings
from iterative_rag.types import Document, Grade, Hit, Label, Need, Rewording, ShortlistedDocument, Verdict
from iterative_rag.types.grade_scale import SCORES, scored

LOWER, UPPER = Settings().grade_lower, Settings().grade_upper


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
def test_the_verdict_at_its_bounds(scores: list[float], expected: Verdict) -> None:
    assert verdict([scored(score, "") for score in scores], LOWER, UPPER) is expected


@pytest.mark.parametrize(
    ("trigger", "scores", "expected"),
    [
        ("any", [0.9, 0.8], Verdict.CORRECT),
        ("any", [0.9, 0.0], Verdict.AMBIGUOUS),
        ("any", [0.2, 0.0], Verdict.INCORRECT),
        ("mean", [1.0, 0.5], Verdict.CORRECT),
        ("mean", [0.9, 0.4, 0.0], Verdict.AMBIGUOUS),
        ("mean", [0.9, 0.0, 0.0, 0.0], Verdict.AMBIGUOUS),
    ],
)
def test_the_trigger_says_which_grade_must_be_good(trigger: str, scores: list[float], expected: Verdict) -> None:
    assert verdict([scored(score, "") for score in scores], LOWER, UPPER, trigger) is expected


def test_labels_and_scores_agree_with_the_default_thresholds() -> None:
    verdicts = {label: verdict([Grade(score, label)], LOWER, UPPER) for label, score in SCORES.items()}
    assert verdicts == {
        Label.AWFUL: Verdict.INCORRECT,
        Label.POOR: Verdict.AMBIGUOUS,
        Label.GOOD: Verdict.CORRECT,
        Label.PERFECT: Verdict.CORRECT,
    }
    for label, score in SCORES.items():
        assert scored(score, "").label is label
    assert scored(LOWER, "").label is scored(UPPER, "").label is Label.POOR
    assert scored(float("nan"), "").label is Label.POOR
    assert [scored(score, "").score for score in (-3.0, 7.0)] == [0.0, 1.0]
    assert parse('{"grades": [{"n": 1, "label": 1.0}]}', GradesReply).grades[0].label == "Perfect"


# --- other words -------------------------------------------------------------------------------


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
