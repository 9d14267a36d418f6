"""Thresholds on trust: for a fact to be used in the next hop, and for a value to be given as the answer."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.types.loop import DOUBTFUL_BELOW


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least trust (0 to 1) of facts that are built on (`built_on`), and of values that are given as answers (`given`).

    From 0.5 on, the trust in a fact is the probability that it is right, as fitted on articles set aside.
    """

    built_on: float
    given: float


# `given` is put here by `python -m scripts.train.fit_caution --write`: the least trust from which on at most three
# answers in ten are wrong, on questions about articles that no model was trained on.
CAREFUL = Thresholds(built_on=DOUBTFUL_BELOW, given=0.5)
# Never abstain: give the best answer whatever its trust.
GUESSING = Thresholds(built_on=0.0, given=0.0)
