"""Uncertainty: intervals, paired tests and calibration.

The unit is the question. Where a question was answered several times (`--repeat`), its answers are averaged first and
the questions are resampled (a cluster bootstrap): ten answers to one question are not ten questions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import fmean
from typing import Any

CONFIDENCE = 0.95
RESAMPLES = 9999
BINS = 10
_DIGITS = 6  # of what is told
# Resamples drawn at once: bounds memory, no effect on the statistics.
_NUMBERS_AT_ONCE = 2_000_000

Interval = tuple[float, float]


def mean_interval(values: Sequence[float], *, share: bool = True) -> Interval:
    """The 95 % interval of the mean of one value per question, by the percentile bootstrap (Efron, 1979).

    Equal values cannot be resampled into any spread. Are they scores from 0 to 1, their interval is Wilson's (1927)
    for a share of that size: 0 of 20 gives 0 to 0.16, one right of one 0.21 to 1. For a mean of bounded scores it is
    rather too wide than too narrow, since none varies more than a share does. Equal values beyond 0 to 1, and those
    that are no scores (`share=False`: calls, seconds), give that value twice.
    Raises ValueError for no values.
    """
    middle = fmean(values)
    if min(values) < max(values):
        return _bootstrap(values)
    if not (share and 0 <= middle <= 1):
        return (middle, middle)
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(middle * len(values), len(values), alpha=1 - CONFIDENCE, method="wilson")
    # Rounding may move a share of exactly 0 or 1 outside the range.
    return (max(0.0, min(float(low), middle)), min(1.0, max(float(high), middle)))


def paired_difference(first: Sequence[float], second: Sequence[float]) -> tuple[float, Interval]:
    """The mean of `second - first`, scores from 0 to 1, with its interval by the paired bootstrap: `first[i]` and
    `second[i]` are of one question.

    Equal differences are treated as in `mean_interval`: where no question differs, the interval reaches as far to
    both sides as Wilson's upper bound for "0 of n differ". Raises ValueError for no questions or unequal lengths.
    """
    differences = [after - before for before, after in zip(first, second, strict=True)]
    middle = fmean(differences)
    if min(differences) < max(differences):
        return middle, _bootstrap(differences)
    low, high = mean_interval([abs(middle)] * len(differences))
    if middle == 0:
        return 0.0, (-high, high)
    return middle, ((low, high) if middle > 0 else (-high, -low))


def _bootstrap(values: Sequence[float]) -> Interval:
    import numpy as np
    from scipy import stats

    interval = stats.bootstrap(
        (np.asarray(values, dtype=float),),
        np.mean,
        n_resamples=RESAMPLES,
        batch=max(1, _NUMBERS_AT_ONCE // len(values)),
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return (float(interval.low), float(interval.high))


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


def calibration(confidences: Sequence[float], right: Sequence[float]) -> dict[str, Any]:
    """How well confidences match accuracy: 0.8 should mean right eight times in ten.

    `ece` is the mean distance of confidence and accuracy over the bins, weighted by their answers (Guo et al., 2017);
    `brier` the mean squared distance over the answers. `bins` are ten of equal width, from `low` to below `high`
    (the last one holds 1.0 too), those without answers left out. Raises ValueError for no answers or unequal lengths.
    """
    pairs = list(zip(confidences, right, strict=True))
    held: defaultdict[int, list[tuple[float, float]]] = defaultdict(list)
    for confidence, hit in pairs:
        held[min(int(confidence * BINS), BINS - 1)].append((confidence, hit))
    made = [
        {
            "low": number / BINS,
            "high": (number + 1) / BINS,
            "n": len(within),
            "confidence": fmean([confidence for confidence, _ in within]),
            "right": fmean([hit for _, hit in within]),
        }
        for number, within in sorted(held.items())
    ]
    brier = fmean([(confidence - hit) ** 2 for confidence, hit in pairs])
    ece = sum(entry["n"] * abs(entry["confidence"] - entry["right"]) for entry in made) / len(pairs)
    return {"ece": ece, "brier": brier, "bins": made}


def rounded(value: Any) -> Any:
    """Plain JSON values with six digits, which keeps diffs of two objects short."""
    match value:
        case float():
            # Small p-values keep six significant digits.
            return round(value, _DIGITS) if abs(value) >= 1e-3 else float(f"{value:.{_DIGITS}g}")
        case dict():
            return {key: rounded(inner) for key, inner in value.items()}
        case list() | tuple():
            return [rounded(inner) for inner in value]
    return value
