"""Scores of readings and rankings: token F1, area under the curve, logistic regression, Platt scaling."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from iterative_rag.evaluation.answer_match import normalised

Floats = npt.NDArray[np.float64]


def f1(found: str, answers: Sequence[str]) -> float:
    """The best token F1 over the accepted answers."""
    return max((_f1(normalised(found).split(), normalised(answer).split()) for answer in answers), default=0.0)


def _f1(found: list[str], wanted: list[str]) -> float:
    same = sum((Counter(found) & Counter(wanted)).values())
    return 2 * same / (len(found) + len(wanted)) if same else 0.0


def area_under_curve(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """The share of (true, false) pairs that are ranked rightly."""
    values, truth = np.asarray(scores, float), np.asarray(truths, bool)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive, negative = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / max(1, positive * negative))


def logistic(features: Floats, truths: Floats, *, ridge: float, steps: int = 100) -> Floats:
    """Weights of a logistic regression, ridge on all but the first column (the constant's); by damped Newton steps.

    Newton's own step can leave the bowl where the odds are large, hence the halving.
    """
    held = ridge * np.concatenate([[0.0], np.ones(features.shape[1] - 1)])

    def cost(weights: Floats) -> float:
        odds = features @ weights
        return float((np.logaddexp(0, odds) - truths * odds).mean() + held @ weights**2)

    weights: Floats = np.zeros(features.shape[1])
    now = cost(weights)
    for _ in range(steps):
        chances = 0.5 * (1 + np.tanh(features @ weights / 2))
        gradient = features.T @ (chances - truths) / len(truths) + 2 * held * weights
        curvature = (features * (chances * (1 - chances))[:, None]).T @ features / len(truths) + np.diag(2 * held)
        step: Floats = np.asarray(np.linalg.lstsq(curvature, gradient, rcond=None)[0], dtype=np.float64)
        while (then := cost(weights - step)) > now and np.abs(step).max() > 1e-9:
            step = step / 2
        if then > now - 1e-12:
            break
        weights, now = weights - step, then
    return weights


def chances_in_folds(features: Floats, truths: Floats, folds: npt.NDArray[np.int64], *, ridge: float) -> Floats:
    """The probability of each row, by a logistic regression on the rows of all other folds."""
    found: Floats = np.zeros(len(truths))
    for fold in set(folds.tolist()):
        weights = logistic(features[folds != fold], truths[folds != fold], ridge=ridge)
        found[folds == fold] = 1 / (1 + np.exp(-features[folds == fold] @ weights))
    return found


def platt(features: Floats, truths: Floats, *, ridge: float = 1e-3) -> tuple[Floats, float]:
    """Weights and shift that make logits probabilities (Platt, 1999)."""
    shift, *weights = logistic(np.hstack([np.ones((len(features), 1)), features]), truths, ridge=ridge)
    return np.array(weights), float(shift)
