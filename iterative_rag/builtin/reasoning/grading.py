"""Grades texts for a need by the trained reader's relevance and support."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.network_cache import cached_result
from iterative_rag.builtin.reading.span_reader import SpanReader, SpanReading
from iterative_rag.builtin.reading.span_search import log_odds
from iterative_rag.protocols import Cache
from iterative_rag.types import Grade, Need
from iterative_rag.types.grade_scale import binary, scored

# Weight of relevance (does the text answer alone?) against support (is it one of several texts needed?). Relevance
# alone grades half of the shortlists of multi-hop questions "incorrect" although they hold gold paragraphs; support
# alone hardly ever does, and accepts any strip of the right article. Among 0.5, 0.6, 0.67 and 0.75, this value grades
# few shortlists "incorrect" by mistake (2WikiMultihopQA, MuSiQue and HotpotQA train) and still drops the irrelevant
# strips of an article. `python -m scripts.bench_grading` measures it.
RELEVANCE = 0.6
# Version of the scoring, part of the cache key: raise it when `score_of` changes.
SCORING = 1


class BuiltinGrader:
    """Implements protocols.Grader. The network is loaded at the first text that the cache does not hold. `binary`: a
    text is Good or Awful, and nothing between."""

    def __init__(self, reader: SpanReader | None = None, cache: Cache | None = None, *, binary: bool = False) -> None:
        self._reader = reader or SpanReader()
        self._cache = cache
        self._binary = binary

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """Grade texts, given as (title, text), by their best window; a text without words gets 0.

        Raises WeightsError if the weights are missing or damaged.
        """

        def grades() -> tuple[Grade, ...]:
            return tuple(_grade(reading) for reading in self._reader.read_pairs(need.question, texts))

        if not texts:
            return ()
        key = ["grades", SCORING, self._reader.name, need.question, texts]
        found = cached_result(self._cache, key, _form(), grades, lambda found: _fit(found, len(texts)))
        return tuple(binary(grade) for grade in found) if self._binary else found


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[tuple[Grade, ...]]:
    return TypeAdapter(tuple[Grade, ...])


def _fit(found: Sequence[Grade], texts: int) -> bool:
    return len(found) == texts and all(0 <= grade.score <= 1 for grade in found)


def score_of(reading: SpanReading) -> float:
    """Weighted mean of relevance and support in log odds, as a probability; 0 for a text without words."""
    if not reading.spans:
        return 0.0
    odds = RELEVANCE * log_odds(reading.relevance) + (1 - RELEVANCE) * log_odds(reading.support)
    return round(1 / (1 + math.exp(-odds)), 4)


def _grade(reading: SpanReading) -> Grade:
    score = score_of(reading)
    if not reading.spans:
        return scored(score, "There are no words to read.")
    return scored(score, f"The reader finds “{reading.text}” ({score:.2f}).")
