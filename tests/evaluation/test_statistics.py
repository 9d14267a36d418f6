from __future__ import annotations

import pytest

from iterative_rag.evaluation.statistics import calibration, holm, mcnemar, mean_interval, paired_difference

Z2 = 1.959964**2


# --- intervals -------------------------------------------------------------------------------


def test_more_questions_make_it_narrower_and_it_stands_around_the_mean() -> None:
    few, many = [0.0, 1.0, 1.0, 0.0, 1.0] * 4, [0.0, 1.0, 1.0, 0.0, 1.0] * 64
    narrow, wide = mean_interval(many), mean_interval(few)
    assert wide[0] < narrow[0] < 0.6 < narrow[1] < wide[1]
    # Sixteen times the questions: a fourth of the width.
    assert (wide[1] - wide[0]) / (narrow[1] - narrow[0]) == pytest.approx(4, rel=0.15)


@pytest.mark.parametrize(
    ("values", "expected"),
    [([0.0] * 20, (0.0, Z2 / (20 + Z2))), ([1.0] * 20, (20 / (20 + Z2), 1.0)), ([0.0], (0.0, Z2 / (1 + Z2)))],
)
def test_none_or_all_right_does_not_claim_certainty(values: list[float], expected: tuple[float, float]) -> None:
    assert mean_interval(values) == pytest.approx(expected, abs=1e-6)


# --- differences -----------------------------------------------------------------------------


def test_a_difference_is_paired() -> None:
    """The same gain on every second question: unpaired, the questions' own spread would drown it."""
    first = [0.1, 0.2, 0.8, 0.9] * 10
    second = [value + (0.1 if number % 2 else 0.0) for number, value in enumerate(first)]
    difference, (low, high) = paired_difference(first, second)
    assert difference == pytest.approx(0.05)
    assert 0.03 < low < 0.05 < high < 0.07


# --- tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("won", "lost", "p"),
    [(0, 0, 1.0), (5, 5, 1.0), (8, 2, 112 / 1024), (2, 8, 112 / 1024), (10, 0, 2 / 1024), (1, 0, 1.0)],
)
def test_mcnemar_is_exact(won: int, lost: int, p: float) -> None:
    assert mcnemar(won, lost) == pytest.approx(p)


def test_holm_steps_down_and_never_past_one() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


# --- calibration -----------------------------------------------------------------------------


def test_calibration_weighs_its_bins_by_their_answers() -> None:
    found = calibration([0.95, 0.95, 0.95, 0.95, 0.25, 1.0], [1, 1, 0, 0, 1, 1])
    assert [(one["low"], one["high"], one["n"]) for one in found["bins"]] == [(0.2, 0.3, 1), (0.9, 1.0, 5)]
    assert found["bins"][1]["confidence"] == pytest.approx(0.96)
    assert found["bins"][1]["right"] == pytest.approx(0.6)
    assert found["ece"] == pytest.approx((5 * 0.36 + 1 * 0.75) / 6)
    assert found["brier"] == pytest.approx((2 * 0.05**2 + 2 * 0.95**2 + 0.75**2) / 6)
    assert calibration([1.0, 0.0], [1, 0])["ece"] == 0
