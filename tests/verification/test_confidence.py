"""What lowers the confidence in an answer; its word, by a measured confidence or by what an LLM's answer rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fakes.tower_facts import INQUIRY, draft
from iterative_rag.types import Claim, ConfidenceWord, Conflict, Draft, Reflection, Side
from iterative_rag.verification.confidence import by_confidence, by_evidence, confidence, thresholds

PROVED = draft("Oda Brenk designed Velm Tower [1].", "Oda Brenk")


def test_a_side_that_a_weighed_answer_does_not_cite_leaves_the_confidence() -> None:
    conflict = Conflict("When?", (Side("1911", (0,)), Side("1912", (2,))))
    weighed = replace(PROVED, weighed=True)
    assert confidence(weighed, None, (conflict,)) == 0.9
    assert confidence(PROVED, None, (conflict,)) == 0.5
    assert confidence(replace(weighed, cited=(0, 2)), None, (conflict,)) == 0.5


def test_confidence_is_held_down_by_what_speaks_against_the_answer() -> None:
    proved, unproved = Claim("a", True, (0,)), Claim("b", False)
    sides = (Side("1911", (0,)), Side("1912", (1,)), Side("1913", (2,)))
    assert confidence(PROVED) == confidence(PROVED, Reflection((proved,))) == 0.9
    assert confidence(PROVED, Reflection((proved, unproved))) == 0.2
    assert confidence(PROVED, Reflection((proved,), useful=False)) == 0.2
    assert confidence(PROVED, None, (Conflict("When?", sides),)) == 0.333
    abstained = Draft(False, "", missing="x", confidence=0.7)
    assert confidence(abstained, Reflection((unproved,), useful=False)) == 0.7


def test_the_words_follow_the_measured_thresholds() -> None:
    measured = thresholds()
    assert 0 < measured.likely < measured.well_supported < 1
    assert by_confidence(measured.well_supported) is ConfidenceWord.WELL_SUPPORTED
    assert by_confidence(measured.likely) is ConfidenceWord.LIKELY
    assert by_confidence(measured.likely - 0.01) is ConfidenceWord.WEAK_GUESS


@pytest.mark.parametrize(
    ("given", "word"),
    [
        (PROVED, ConfidenceWord.WELL_SUPPORTED),
        (replace(PROVED, confidence=0.7), ConfidenceWord.LIKELY),
        (replace(PROVED, caveats=("One step is inferred.",)), ConfidenceWord.LIKELY),
        (replace(PROVED, text="Oda Brenk, born in Quorn in 1744, designed Velm Tower [1]."), ConfidenceWord.LIKELY),
        (replace(PROVED, cited=()), ConfidenceWord.WEAK_GUESS),
        (replace(PROVED, last_attempt=True, confidence=0.45), ConfidenceWord.WEAK_GUESS),
        (replace(PROVED, confidence=0.4), ConfidenceWord.WEAK_GUESS),
    ],
)
def test_an_llm_is_judged_by_what_its_answer_rests_on(given: Draft, word: ConfidenceWord) -> None:
    assert by_evidence(INQUIRY, given, given.confidence, None, ()) is word


def test_one_of_two_values_that_contradict_each_other_is_a_guess() -> None:
    sides = (Side("Oda Brenk", (0,)), Side("Orm", (1,)))
    assert by_evidence(INQUIRY, PROVED, 0.5, None, (Conflict("Who?", sides),)) is ConfidenceWord.WEAK_GUESS
