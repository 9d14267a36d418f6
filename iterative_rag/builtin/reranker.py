"""The trained reader as a reranker: ranks passages by the probability that each alone answers the question."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pydantic import TypeAdapter

from iterative_rag.builtin.network_cache import cached_result
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, PassageText
from iterative_rag.protocols import Cache


class ReaderReranker:
    """Implements protocols.Reranker. The network is loaded at the first passage that the cache does not hold.

    `relevance` raises WeightsError if the weights are missing or damaged.
    """

    def __init__(self, reader: EvidenceReader | None = None, cache: Cache | None = None) -> None:
        self._reader = reader or EvidenceReader()
        self._cache = cache

    @property
    def name(self) -> str:
        return self._reader.name

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        def read() -> list[float]:
            shown = [PassageText(title, "", text) for title, text in passages]
            return [reading.answerable for reading in self._reader.read(query, shown)]

        if not passages:
            return []
        key = ["relevance", self._reader.name, query, passages]
        return cached_result(self._cache, key, _form(), read, lambda found: _fit(found, len(passages)))


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[list[float]]:
    return TypeAdapter(list[float])


def _fit(found: Sequence[float], passages: int) -> bool:
    return len(found) == passages and all(0 <= relevance <= 1 for relevance in found)
