"""Needs in other words, and needs that only sound alike: the words decide before any vector does."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from iterative_rag.retrieval.same_need import same_need, shape

PAIRS = Path(__file__).resolve().parents[2] / "evaluation" / "reuse" / "need_pairs.tsv"


def pairs(kind: str) -> list[tuple[str, str]]:
    with PAIRS.open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t")
        return [(row["need"], row["other need"]) for row in rows if row["kind"] == kind]


def test_the_words_of_no_near_miss_allow_its_reuse() -> None:
    assert len(pairs("other")) == 100
    assert [(a, b) for a, b in pairs("other") if shape(a).allows(shape(b))] == []


def test_most_needs_in_other_words_are_recognised() -> None:
    allowed = [(a, b) for a, b in pairs("same") if shape(a).allows(shape(b))]
    assert len(pairs("same")) == 100
    assert len(allowed) >= 80


@pytest.mark.parametrize(
    ("need", "other"),
    [
        ("What did Maren Tove design?", "Who designed Maren Tove?"),
        ("Did Maren Tove die in Brisk?", "How did Maren Tove die in Brisk?"),
        ("Who was the mother of Maren Tove in the film?", "Who was the mother of Maren Tove in the book?"),
        ("Wer war die Mutter von Maren Tove?", "Wer war der Vater von Maren Tove?"),
        ("Who won the 12th river race?", "Who won the twelfth lake race?"),
        ("Did Vall defeat Brisk?", "Did Brisk defeat Vall?"),
        ("Who was the mother of Maren?", "Who was the mother of Tove?"),
    ],
)
def test_a_word_that_counts_keeps_needs_apart(need: str, other: str) -> None:
    assert not shape(need).allows(shape(other))
    assert not shape(other).allows(shape(need))


def test_vectors_have_the_last_word() -> None:
    need, other = "Who designed Quill Hall?", "Who was the architect of Quill Hall?"
    assert same_need(need, [other], lambda text: np.array([1.0, 0.0], np.float32)) == other
    apart = {need: np.array([1.0, 0.0], np.float32), other: np.array([0.0, 1.0], np.float32)}
    assert same_need(need, [other], apart.__getitem__) is None
    assert same_need(need, [], apart.__getitem__) is None
