"""The word for an answer: by a measured confidence, or by what an LLM's answer rests on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iterative_rag.types import ConfidenceWord, Conflict, Draft, Fact, Inquiry, Need, Side
from iterative_rag.verification.confidence import by_confidence, by_evidence, thresholds

QUOTE = "Its mayor is Edda Holm."
FACT = Fact(QUOTE, QUOTE, "Edda Holm", "a", "Aldermere", "a.md", 0, len(QUOTE), Need("Who is the mayor?"), 1.0)
INQUIRY = Inquiry("Who is the mayor of Aldermere?", "Who is the mayor of Aldermere?", (FACT,))
PROVED = Draft(True, "The mayor is Edda Holm [1].", "Edda Holm", (0,), confidence=0.95)
TWO_SIDES = (Conflict("Who is the mayor?", (Side("Edda Holm", (0,)), Side("Orm", (1,)))),)


def test_the_words_follow_the_measured_thresholds() -> None:
    measured = thresholds()
    assert 0 < measured.likely < measured.well_supported < 1
    assert by_confidence(measured.well_supported) is ConfidenceWord.WELL_SUPPORTED
    assert by_confidence(measured.likely) is ConfidenceWord.LIKELY
    assert by_confidence(measured.likely - 0.01) is ConfidenceWord.WEAK_GUESS


@pytest.mark.parametrize(
    ("draft", "word"),
    [
        (PROVED, ConfidenceWord.WELL_SUPPORTED),
        (replace(PROVED, confidence=0.7), ConfidenceWord.LIKELY),
        (replace(PROVED, caveats=("One step is inferred.",)), ConfidenceWord.LIKELY),
        (replace(PROVED, text="The mayor is Edda Holm [1], who was born in Quorn in 1744."), ConfidenceWord.LIKELY),
        (replace(PROVED, cited=()), ConfidenceWord.WEAK_GUESS),
        (replace(PROVED, last_attempt=True, confidence=0.45), ConfidenceWord.WEAK_GUESS),
        (replace(PROVED, confidence=0.4), ConfidenceWord.WEAK_GUESS),
    ],
)
def test_an_llm_is_judged_by_what_its_answer_rests_on(draft: Draft, word: ConfidenceWord) -> None:
    assert by_evidence(INQUIRY, draft, draft.confidence, None, ()) is word


def test_one_of_two_values_that_contradict_each_other_is_a_guess() -> None:
    assert by_evidence(INQUIRY, PROVED, 0.5, None, TWO_SIDES) is ConfidenceWord.WEAK_GUESS
