"""The trained reader as a grader, as a reranker, and as a second pair of eyes on a quote; what it reads is cached."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.networks import cached_result, log_odds
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, PassageText
from iterative_rag.builtin.reasoning.value_agreement import agree, says_yes
from iterative_rag.protocols import Cache
from iterative_rag.types import Grade, Need
from iterative_rag.types.correcting import scored

# A text of several that are needed for an answer does not answer by itself, and the reader says so: taken as it is, its
# probability would grade half of the shortlists of multi-hop questions "incorrect" although they hold gold paragraphs.
# So the log odds are weighed down and shifted. Both numbers were set by hand on half B of 2WikiMultihopQA
# and MuSiQue; they were not set anew for later weights of the reader.
WEIGHT, SHIFT = 0.6, 1.0
# Spans of the quote among which the value is looked for, and the least share of one that is it. Where none is, the
# quote answers with something else: so much of its chance is left.
SPANS, SHARE, ELSEWHERE = 3, 0.1, 0.3
# How likely a text answers, and the likeliest answer; "" in a text without words.
Read = tuple[float, str]


class ReaderRoles:
    """Implements protocols.Grader, Reranker and QuoteReader. The network is loaded at the first text that the cache
    does not hold. Every method raises WeightsError if the weights are missing or damaged."""

    def __init__(self, reader: EvidenceReader | None = None, cache: Cache | None = None) -> None:
        self._reader = reader or EvidenceReader()
        self._cache = cache

    @property
    def name(self) -> str:
        return self._reader.name

    def grade(self, need: Need, texts: Sequence[tuple[str, str]]) -> tuple[Grade, ...]:
        """Grade texts, given as (title, text), by their best window; a text without words gets 0."""
        return tuple(_grade(*read) for read in self._read(need.question, texts))

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        """The probability that each passage alone answers the question."""
        return [answerable for answerable, _ in self._read(query, passages)]

    def _read(self, need: str, texts: Sequence[tuple[str, str]]) -> list[Read]:
        def read() -> list[Read]:
            shown = [PassageText(title, "", text) for title, text in texts]
            readings = self._reader.read(need, shown, best=1)
            return [(reading.answerable, reading.spans[0].text if reading.spans else "") for reading in readings]

        def fits(reads: Sequence[Read]) -> bool:
            return len(reads) == len(texts) and all(0 <= answerable <= 1 for answerable, _ in reads)

        key = ["texts", self._reader.name, need, texts]
        return cached_result(self._cache, key, _forms()[0], read, fits) if texts else []

    def chance(self, need: str, value: str, title: str, quote: str) -> float:
        """How likely the quote alone answers the need with the value."""

        def read() -> float:
            (reading,) = self._reader.read(need, [PassageText(title, "", quote)], best=SPANS)
            if value.casefold() in {"yes", "no"}:
                return reading.yes if says_yes(value) else reading.no
            share = max((span.probability for span in reading.spans if agree(span.text, value)), default=0.0)
            return round(reading.answerable * (1.0 if share >= SHARE else ELSEWHERE), 4)

        key = ["quote", self._reader.name, need, value, title, quote]
        return cached_result(self._cache, key, _forms()[1], read, lambda chance: 0 <= chance <= 1)


@lru_cache(maxsize=1)
def _forms() -> tuple[TypeAdapter[list[Read]], TypeAdapter[float]]:
    return TypeAdapter(list[Read]), TypeAdapter(float)


def score_of_answerable(answerable: float) -> float:
    return round(1 / (1 + math.exp(-(WEIGHT * log_odds(answerable) + SHIFT))), 4)


def _grade(answerable: float, value: str) -> Grade:
    if not value:
        return scored(0.0, "There are no words to read.")
    score = score_of_answerable(answerable)
    return scored(score, f"The reader finds “{value}” ({score:.2f}).")
