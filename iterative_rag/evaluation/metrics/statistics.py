"""Uncertainty: intervals, paired tests and calibration.

The unit is the question. Where a question was answered several times (`--repeat`), its answers are averaged first and
the questions are resampled (a cluster bootstrap): ten answers to one question are not ten questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

CONFIDENCE = 0.95
RESAMPLES = 9999
BINS = 10
# Resamples drawn at once: bounds memory, no effect on the statistics.
_NUMBERS_AT_ONCE = 2_000_000

Interval = tuple[float, float]


def mean(values: Sequence[float]) -> float:
    """Raises ValueError for no values."""
    if not values:
        raise ValueError("the mean of no values")
    return sum(values) / len(values)


def by_question(answers: Iterable[tuple[Hashable, float]]) -> list[float]:
    """One value per question, the mean of its answers, in the order in which the questions first come."""
    values: defaultdict[Hashable, list[float]] = defaultdict(list)
    for question, value in answers:
        values[question].append(value)
    return [mean(of_one) for of_one in values.values()]


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of the values lie, interpolated. Raises ValueError for no values."""
    if not values:
        raise ValueError("a percentile of no values")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


# --- intervals -------------------------------------------------------------------------------


def mean_interval(
    values: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES, share: bool = True
) -> Interval:
    """The 95 % interval of the mean of one value per question, by the percentile bootstrap (Efron, 1979).

    Equal values cannot be resampled into any spread. Are they scores from 0 to 1, their interval is Wilson's (1927)
    for a share of that size: 0 of 20 gives 0 to 0.16, one right of one 0.21 to 1. For a mean of bounded scores it is
    rather too wide than too narrow, since none varies more than a share does. Equal values beyond 0 to 1, and those
    that are no scores (`share=False`: calls, seconds), give that value twice.
    Raises ValueError for no values.
    """
    middle = mean(values)
    if min(values) < max(values):
        return _bootstrap(values, seed=seed, resamples=resamples)
    return wilson(middle, len(values)) if share and 0 <= values[0] <= 1 else (values[0], values[0])


def wilson(share: float, n: int) -> Interval:
    """Wilson's score interval of a share that was seen in `n` trials. Raises ValueError for no trials."""
    if n < 1:
        raise ValueError("an interval of no trials")
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(share * n, n, alpha=1 - CONFIDENCE, method="wilson")
    # Rounding may move a share of exactly 0 or 1 outside the range.
    return (max(0.0, min(float(low), share)), min(1.0, max(float(high), share)))


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean of `second - first` over the same questions, with its 95 % interval."""

    mean: float
    low: float
    high: float


def paired_difference(
    first: Sequence[float], second: Sequence[float], *, seed: int = 0, resamples: int = RESAMPLES
) -> Difference:
    """The paired bootstrap of a difference of scores from 0 to 1: `first[i]` and `second[i]` are of one question.

    Equal differences are treated as in `mean_interval`: where no question differs, the interval reaches as far to
    both sides as Wilson's upper bound for "0 of n differ". Raises ValueError for no questions or unequal lengths.
    """
    differences = [after - before for before, after in zip(first, second, strict=True)]
    middle = mean(differences)
    if min(differences) < max(differences):
        return Difference(middle, *_bootstrap(differences, seed=seed, resamples=resamples))
    low, high = mean_interval([abs(middle)] * len(differences))
    if middle == 0:
        return Difference(0.0, -high, high)
    return Difference(middle, *((low, high) if middle > 0 else (-high, -low)))


def _bootstrap(values: Sequence[float], *, seed: int, resamples: int) -> Interval:
    import numpy as np
    from scipy import stats

    found = stats.bootstrap(
        (np.asarray(values, dtype=float),),
        np.mean,
        n_resamples=resamples,
        batch=max(1, _NUMBERS_AT_ONCE // len(values)),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return (float(found.low), float(found.high))


# --- tests -----------------------------------------------------------------------------------


def mcnemar(won: int, lost: int) -> float:
    """McNemar's exact test (1947), two-sided: could `won` and `lost` questions come from a fair coin? 1.0 for none.

    Questions that both or neither of two runs answered rightly do not count. Where questions have several answers,
    count a question as won when its share of right answers rose: then it is the exact sign test.
    """
    if won + lost == 0:
        return 1.0
    from scipy import stats

    return float(stats.binomtest(won, won + lost, 0.5).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values corrected for being several, in the same order (Holm, 1979)."""
    if not p_values:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(list(p_values), method="holm")[1]]


# --- calibration -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers with a confidence from `low` to below `high` (the last bin holds 1.0 too): their mean confidence and
    the share of them that is right."""

    low: float
    high: float
    n: int
    confidence: float
    right: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """`ece` is the mean distance of confidence and accuracy over the bins, weighted by their answers (Guo et al.,
    2017); `brier` the mean squared distance over the answers. Bins without answers are left out."""

    ece: float
    brier: float
    bins: tuple[Bin, ...]


def calibration(confidences: Sequence[float], right: Sequence[float], *, bins: int = BINS) -> Calibration:
    """How well confidences match accuracy: 0.8 should mean right eight times in ten; `bins` are of equal width.

    Raises ValueError for no answers, unequal lengths or a confidence outside of 0 to 1.
    """
    pairs = list(zip(confidences, right, strict=True))
    if not pairs:
        raise ValueError("the calibration of no answers")
    if not all(0 <= confidence <= 1 for confidence in confidences):
        raise ValueError("a confidence outside of 0 to 1")
    held: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for confidence, hit in pairs:
        held[min(int(confidence * bins), bins - 1)].append((confidence, hit))
    made = tuple(
        Bin(
            place / bins,
            (place + 1) / bins,
            len(held[place]),
            mean([confidence for confidence, _ in held[place]]),
            mean([hit for _, hit in held[place]]),
        )
        for place in sorted(held)
    )
    ece = sum(one.n * abs(one.confidence - one.right) for one in made) / len(pairs)
    return Calibration(ece, mean([(confidence - hit) ** 2 for confidence, hit in pairs]), made)
