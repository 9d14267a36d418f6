"""Scores of readings and rankings: exact match, token F1, calibration error, area under the curve, Platt scaling."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def normalised(answer: str) -> str:
    """SQuAD's normal form: small letters, no punctuation, no articles, single spaces (Rajpurkar et al., 2016)."""
    text = "".join(character for character in answer.lower() if character not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def exact_match(found: str, answers: Sequence[str]) -> float:
    return float(any(normalised(found) == normalised(answer) for answer in answers))


def f1(found: str, answers: Sequence[str]) -> float:
    """The best token F1 over the accepted answers."""
    return max((_f1(normalised(found).split(), normalised(answer).split()) for answer in answers), default=0.0)


def _f1(found: list[str], wanted: list[str]) -> float:
    same = sum((Counter(found) & Counter(wanted)).values())
    return 2 * same / (len(found) + len(wanted)) if same else 0.0


def calibration_error(probabilities: Sequence[float], truths: Sequence[bool], bins: int = 10) -> float:
    """Expected calibration error over bins of equal width (Guo et al., 2017)."""
    p, t = np.asarray(probabilities, float), np.asarray(truths, float)
    places = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[places == b].mean() - t[places == b].mean()) * (places == b).mean() for b in set(places.tolist())]
    return float(sum(gaps))


def area_under_curve(scores: Sequence[float], truths: Sequence[bool]) -> float:
    """The share of (true, false) pairs that are ranked rightly."""
    values, truth = np.asarray(scores, float), np.asarray(truths, bool)
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positive, negative = int(truth.sum()), int((~truth).sum())
    return float((ranks[truth].sum() - positive * (positive + 1) / 2) / max(1, positive * negative))


def platt(features: Floats, truths: Floats, *, steps: int = 30, ridge: float = 1e-3) -> tuple[Floats, float]:
    """Weights and shift of a logistic regression, by Newton's method (Platt, 1999)."""
    x = np.hstack([features, np.ones((len(features), 1))])
    w = np.zeros(x.shape[1])
    w[0] = 1.0
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        gradient = x.T @ (p - truths) / len(x) + ridge * w
        curvature: Any = (x * (p * (1 - p))[:, None]).T @ x / len(x) + ridge * np.eye(len(w))
        w = w - np.linalg.solve(curvature, gradient)
    return w[:-1], float(w[-1])
