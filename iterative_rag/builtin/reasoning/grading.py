"""Grading by the trained reader: how far it thinks that a text serves the need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.network_cache import kept
from iterative_rag.builtin.reading.span_reader import SpanReader, SpanReading, log_odds
from iterative_rag.protocols import Cache
from iterative_rag.types import Grade, Need
from iterative_rag.types.grade_scale import scored

# What relevance (does the text answer by itself?) counts beside support (does it hold a part of the way?). Relevance
# alone calls half of the shortlists of a question of several hops incorrect though they hold gold paragraphs; support
# alone hardly ever calls one incorrect, and takes any strip of the right article for good. Of 0.5, 0.6, 0.67 and 0.75
# this calls few shortlists wrongly incorrect (2WikiMultihopQA, MuSiQue and HotpotQA train) and still drops the strips
# of an article that are about something else. `python -m scripts.bench_grading` measures it.
RELEVANCE = 0.6
# Of the way from a reading to a grade. Grades are kept under it.
SCORING = 1


class BuiltinGrader:
    """Implements protocols.Grader. Costs nothing until the first text."""

    def __init__(self, reader: SpanReader | None = None, cache: Cache | None = None) -> None:
        self._reader = reader or SpanReader()
        self._cache = cache

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """A text is read in the reader's windows, the best of which decides; one without words answers nothing.

        Raises WeightsError where the weights are missing or damaged.
        """

        def grades() -> tuple[Grade, ...]:
            return tuple(_graded(reading) for reading in self._reader.read_pairs(need.question, texts))

        if not texts:
            return ()
        key = ["grades", SCORING, self._reader.name, need.question, texts]
        return kept(self._cache, key, _form(), grades, lambda found: _fit(found, len(texts)))


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[tuple[Grade, ...]]:
    return TypeAdapter(tuple[Grade, ...])


def _fit(found: Sequence[Grade], texts: int) -> bool:
    return len(found) == texts and all(0 <= grade.score <= 1 for grade in found)


def score_of(reading: SpanReading) -> float:
    """The weighted mean of relevance and support, as log odds; 0 for a text without words."""
    if not reading.spans:
        return 0.0
    odds = RELEVANCE * log_odds(reading.relevance) + (1 - RELEVANCE) * log_odds(reading.support)
    return round(1 / (1 + math.exp(-odds)), 4)


def _graded(reading: SpanReading) -> Grade:
    score = score_of(reading)
    if not reading.spans:
        return scored(score, "There are no words to read.")
    return scored(score, f"The reader finds “{reading.text}” ({score:.2f}).")
