"""Grading by the trained reader: how far it thinks that a text serves the need."""

from __future__ import annotations

import math
from collections.abc import Sequence

from iterative_rag.builtin.reading.span_reader import Reading, SpanReader, log_odds
from iterative_rag.replies.corrective import scored
from iterative_rag.types import Grade, Need


class BuiltinGrader:
    """Implements protocols.Grader. Costs nothing until the first text."""

    def __init__(self, reader: SpanReader | None = None) -> None:
        self._reader = reader or SpanReader()

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """A text is read in the reader's windows, the best of which decides; one without words answers nothing.

        Raises WeightsError where the weights are missing or damaged.
        """
        return tuple(_graded(reading) for reading in self._reader.read_pairs(need.question, texts))


def score_of(reading: Reading) -> float:
    """The mean of relevance and support, as log odds.

    Relevance alone (does it answer by itself?) calls most shortlists of a question of several hops incorrect, support
    alone (does it hold a part of the way?) hardly any shortlist at all: see scripts/bench_grading.py.
    """
    if not reading.spans:
        return 0.0
    return round(1 / (1 + math.exp(-(log_odds(reading.relevance) + log_odds(reading.support)) / 2)), 4)


def _graded(reading: Reading) -> Grade:
    score = score_of(reading)
    if not reading.spans:
        return scored(score, "There are no words to read.")
    return scored(score, f"The reader finds “{reading.text}” ({score:.2f}).")
