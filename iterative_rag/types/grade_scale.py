"""The one scale of grades: label to score, score to label."""

from __future__ import annotations

import math
from collections.abc import Mapping

from iterative_rag.types.correcting import Grade, Label

# A label's score. With the default thresholds a best grade of Awful means incorrect, Poor ambiguous, the rest correct.
SCORES: Mapping[Label, float] = {Label.AWFUL: 0.0, Label.POOR: 0.5, Label.GOOD: 0.8, Label.PERFECT: 1.0}
# The other way round, for graders that give scores: the highest score of each label, its bounds as those of verdicts.
_POOR_FROM, _POOR_TO, _GOOD_TO = 0.3, 0.7, 0.9
LONGEST_REASON = 200


def labelled(label: Label, reason: str) -> Grade:
    """The grade of a label, its reason on one line."""
    return Grade(SCORES[label], label, one_line(reason))


def scored(score: float, reason: str) -> Grade:
    """The grade of a score from 0 to 1, its reason on one line. What is no number is no grade: Poor."""
    if math.isnan(score):
        return labelled(Label.POOR, "The grader gave no number.")
    score = min(1.0, max(0.0, score))
    if score < _POOR_FROM:
        label = Label.AWFUL
    elif score <= _POOR_TO:
        label = Label.POOR
    else:
        label = Label.GOOD if score <= _GOOD_TO else Label.PERFECT
    return Grade(score, label, one_line(reason))


def binary(grade: Grade) -> Grade:
    """The grade as yes (Good) or no (Awful)."""
    return labelled(Label.GOOD if grade.label in (Label.GOOD, Label.PERFECT) else Label.AWFUL, grade.reason)


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REASON else f"{line[: LONGEST_REASON - 4].rstrip()} ..."
