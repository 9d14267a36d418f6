"""Grading and reranking without an LLM, with the packaged weights."""

from __future__ import annotations

from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.protocols import Grader, Reranker
from iterative_rag.types import Label, Need
from iterative_rag.types.correcting import GRADE_LOWER, GRADE_UPPER

GRADER: Grader = ReaderRoles()
BRIDGE = Need("Who built the Sunday bridge?")
ANSWERING = ("Sunday bridge", "The Sunday bridge was built in 1804 by the engineer Edda Holm.")
NEAR = ("Aldermere", "Aldermere is a market town with a bridge over the river Tarn.")
PASSAGES = [
    NEAR,
    ANSWERING,
    ("Edda Holm", "Many bridges were built in those years, most of them of wood."),
    ("Blank", " "),
]
FAR = ("Sourdough", "Sourdough is bread that is leavened by wild yeast and lactic acid bacteria.")


def test_the_text_that_answers_is_graded_best_and_says_what_was_found() -> None:
    best, near, far, empty = GRADER.grade(BRIDGE, [ANSWERING, NEAR, FAR, ("Blank", " \n")])
    assert best.score > GRADE_UPPER
    assert best.label in {Label.GOOD, Label.PERFECT}
    assert "Edda Holm" in best.reason
    assert near.score < best.score
    assert far.label is Label.AWFUL
    assert (empty.score, empty.label) == (0.0, Label.AWFUL)
    assert GRADER.grade(BRIDGE, []) == ()
    assert all("\n" not in grade.reason for grade in (best, near, far, empty))


def test_an_answer_deep_inside_a_long_text_is_found() -> None:
    filler = "\n\n".join(f"{FAR[1]} Loaf number {n} is sold on market days." for n in range(16))
    text = f"{filler}\n\n{ANSWERING[1]}\n\n{filler}"
    (grade,) = GRADER.grade(BRIDGE, [("Sunday bridge", text)])
    assert grade.score > GRADE_LOWER


def test_the_answering_passage_is_the_most_relevant() -> None:
    reranker: Reranker = ReaderRoles()
    scores = reranker.relevance("Who built the Sunday bridge?", PASSAGES)
    assert len(scores) == len(PASSAGES)
    assert max(scores) == scores[1] > 0.5
    assert scores[3] == 0.0
    assert all(0 <= score <= 1 for score in scores)
    assert reranker.relevance("Who built it?", []) == []
    assert reranker.name.startswith("builtin/")
