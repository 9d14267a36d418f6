"""Thresholds on trust: for a fact to be used in the next hop, and for a value to be given as the answer."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.types.loop import DOUBTFUL_BELOW


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Least trust (0 to 1) of facts that are built on (`built_on`), of values that are given as answers (`given`), and
    of those among them that a step leads to which no quote fully bears out (`unsaid`).

    From 0.5 on, the trust in a fact is the probability that it is right, as fitted on articles set aside.
    """

    built_on: float
    given: float
    unsaid: float


# `given` is put here by `python -m scripts.train.fit_caution --write`: the least trust from which on at most three
# answers in ten are wrong, on questions about articles that no model was trained on.
# `unsaid`: between 0.5 and 0.6 such answers were wrong in 15 of 21 cases, on questions of train parts and over the
# starter corpus.
CAREFUL = Thresholds(built_on=DOUBTFUL_BELOW, given=0.5, unsaid=0.6)
# Never abstain: give the best answer whatever its trust.
GUESSING = Thresholds(built_on=0.0, given=0.0, unsaid=0.0)
