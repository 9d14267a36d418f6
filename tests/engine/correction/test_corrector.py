"""The verdict on a shortlist at its thresholds."""

from __future__ import annotations

import pytest

from iterative_rag.engine.correction.corrector import verdict
from iterative_rag.llm.replies.grading_forms import GradesReply
from iterative_rag.llm.replies.json_parsing import parse
from iterative_rag.settings import Settings
from iterative_rag.types import Grade, Label, Verdict
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
