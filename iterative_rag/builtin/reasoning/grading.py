"""Grades texts for a need by how likely the evidence reader finds that they answer it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.network_cache import cached_result
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText
from iterative_rag.builtin.reading.span_search import log_odds
from iterative_rag.protocols import Cache
from iterative_rag.types import Grade, Need
from iterative_rag.types.grade_scale import binary, scored

# A text of several that are needed for an answer does not answer by itself, and the reader says so: taken as it is, its
# probability would grade half of the shortlists of multi-hop questions "incorrect" although they hold gold paragraphs.
# So the log odds are weighed down and shifted. Both numbers were set by hand on the files of
# `python -m scripts.bench.grading`, which measures them; they were not set anew for later weights of the reader.
WEIGHT, SHIFT = 0.6, 1.0
# Version of the scoring, part of the cache key: raise it when `score_of` changes.
SCORING = 2


class BuiltinGrader:
    """Implements protocols.Grader. The network is loaded at the first text that the cache does not hold. `binary`: a
    text is Good or Awful, and nothing between."""

    def __init__(
        self, reader: EvidenceReader | None = None, cache: Cache | None = None, *, binary: bool = False
    ) -> None:
        self._reader = reader or EvidenceReader()
        self._cache = cache
        self._binary = binary

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """Grade texts, given as (title, text), by their best window; a text without words gets 0.

        Raises WeightsError if the weights are missing or damaged.
        """

        def grades() -> tuple[Grade, ...]:
            shown = [PassageText(title, "", text) for title, text in texts]
            return tuple(_grade(reading) for reading in self._reader.read(need.question, shown, best=1))

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


def score_of(reading: EvidenceReading) -> float:
    """0 to 1; 0 for a text without words."""
    if not reading.spans:
        return 0.0
    return round(1 / (1 + math.exp(-(WEIGHT * log_odds(reading.answerable) + SHIFT))), 4)


def _grade(reading: EvidenceReading) -> Grade:
    score = score_of(reading)
    if not reading.spans:
        return scored(score, "There are no words to read.")
    return scored(score, f"The reader finds “{reading.spans[0].text}” ({score:.2f}).")
