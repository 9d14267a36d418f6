from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iterative_rag.evaluation.metrics.statistics import (
    by_question,
    calibration,
    holm,
    mcnemar,
    mean_interval,
    paired_difference,
    wilson,
)

Z2 = 1.959964**2


# --- intervals -------------------------------------------------------------------------------


def test_the_interval_holds_the_true_mean_about_as_often_as_it_says() -> None:
    source = np.random.default_rng(11)
    held = 0
    for _ in range(300):
        low, high = mean_interval((source.random(60) < 0.7).astype(float).tolist(), resamples=400)
        held += low <= 0.7 <= high
    assert 0.90 <= held / 300 <= 0.985


def test_more_questions_make_it_narrower_and_it_stands_around_the_mean() -> None:
    few, many = [0.0, 1.0, 1.0, 0.0, 1.0] * 4, [0.0, 1.0, 1.0, 0.0, 1.0] * 64
    narrow, wide = mean_interval(many), mean_interval(few)
    assert wide[0] < narrow[0] < 0.6 < narrow[1] < wide[1]
    # Sixteen times the questions: a fourth of the width.
    assert (wide[1] - wide[0]) / (narrow[1] - narrow[0]) == pytest.approx(4, rel=0.15)


def test_the_same_seed_gives_the_same_interval() -> None:
    values = np.random.default_rng(1).random(50).tolist()
    assert mean_interval(values, seed=5) == mean_interval(values, seed=5)
    assert mean_interval(values, seed=5) != mean_interval(values, seed=6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.0] * 20, (0.0, Z2 / (20 + Z2))),
        ([1.0] * 20, (20 / (20 + Z2), 1.0)),
        ([1.0], (1 / (1 + Z2), 1.0)),
        ([0.0], (0.0, Z2 / (1 + Z2))),
    ],
)
def test_none_or_all_right_does_not_claim_certainty(values: list[float], expected: tuple[float, float]) -> None:
    assert mean_interval(values) == pytest.approx(expected, abs=1e-6)


def test_equal_values_that_are_no_scores_have_no_spread() -> None:
    assert mean_interval([7.0, 7.0, 7.0]) == (7.0, 7.0)
    assert mean_interval([1.0, 1.0], share=False) == (1.0, 1.0)
    low, high = mean_interval([0.5] * 10)  # a score, such as F1
    assert low < 0.5 < high


def test_no_values_are_an_error_and_not_a_figure() -> None:
    for call in (mean_interval, by_question_mean, lambda none: wilson(0.5, 0)):
        with pytest.raises(ValueError, match="no "):
            call([])


def by_question_mean(values: list[float]) -> object:
    return paired_difference(values, values)


def test_ten_answers_to_one_question_are_not_ten_questions() -> None:
    once = [(number, float(number % 3 == 0)) for number in range(30)]
    assert mean_interval(by_question(once)) == mean_interval(by_question(once * 10))


def test_answers_are_averaged_within_their_question() -> None:
    assert by_question([("b", 1.0), ("a", 0.0), ("b", 0.0), ("a", 1.0), ("a", 1.0)]) == [0.5, pytest.approx(2 / 3)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_an_interval_of_scores_stays_within_zero_and_one_and_holds_their_mean(values: list[float]) -> None:
    low, high = mean_interval(values, resamples=200)
    assert 0 <= low <= sum(values) / len(values) + 1e-9
    assert sum(values) / len(values) - 1e-9 <= high <= 1


# --- differences -----------------------------------------------------------------------------


def test_a_difference_is_paired() -> None:
    """The same gain on every second question: unpaired, the questions' own spread would drown it."""
    first = [0.1, 0.2, 0.8, 0.9] * 10
    second = [value + (0.1 if number % 2 else 0.0) for number, value in enumerate(first)]
    difference, (low, high) = paired_difference(first, second)
    assert difference == pytest.approx(0.05)
    assert 0.03 < low < 0.05 < high < 0.07


def test_a_difference_turns_round_with_its_runs() -> None:
    source = np.random.default_rng(3)
    first, second = source.random(40).tolist(), source.random(40).tolist()
    (there, (low, high)), (back, (least, most)) = paired_difference(first, second), paired_difference(second, first)
    assert (there, low, high) == pytest.approx((-back, -most, -least), abs=0.01)


def test_equal_runs_may_still_differ_on_other_questions() -> None:
    same, interval = paired_difference([1.0, 0.0] * 10, [1.0, 0.0] * 10)
    assert (same, *interval) == pytest.approx((0, -Z2 / (20 + Z2), Z2 / (20 + Z2)), abs=1e-6)
    worse, interval = paired_difference([1.0] * 4, [0.0] * 4)
    assert (worse, *interval) == pytest.approx((-1, -1, -4 / (4 + Z2)), abs=1e-6)


def test_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        paired_difference([1.0], [1.0, 0.0])


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
