"""The trained reader as a second pair of eyes: does a quote alone answer a need with a value?"""

from __future__ import annotations

from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.network_cache import cached_result
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText
from iterative_rag.builtin.reasoning.value_agreement import agree, says_yes
from iterative_rag.protocols import Cache

# Spans of the quote among which the value is looked for, and the least share of one that is it. Where none is, the
# quote answers with something else: so much of its chance is left.
SPANS, SHARE, ELSEWHERE = 3, 0.1, 0.3


class BuiltinQuoteReader:
    """Implements protocols.QuoteReader. The network is loaded at the first quote that the cache does not hold.

    `chance` raises WeightsError if the weights are missing or damaged.
    """

    def __init__(self, reader: EvidenceReader | None = None, cache: Cache | None = None) -> None:
        self._reader = reader or EvidenceReader(threads=1)
        self._cache = cache

    def chance(self, need: str, value: str, title: str, quote: str) -> float:
        def read() -> float:
            return _chance(self._reader.read(need, [PassageText(title, "", quote)], best=SPANS)[0], value)

        key = ["quote", self._reader.name, need, value, title, quote]
        return cached_result(self._cache, key, _form(), read, lambda found: 0 <= found <= 1)


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[float]:
    return TypeAdapter(float)


def _chance(reading: EvidenceReading, value: str) -> float:
    if value.casefold() in {"yes", "no"}:
        return reading.yes if says_yes(value) else reading.no
    found = max((span.probability for span in reading.spans if agree(span.text, value)), default=0.0)
    return round(reading.answerable * (1.0 if found >= SHARE else ELSEWHERE), 4)
