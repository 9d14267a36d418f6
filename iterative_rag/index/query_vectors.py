"""The vectors of queries, from the cache where possible: a repeated question then loads no model."""

from __future__ import annotations

import math
from typing import Any

from iterative_rag.protocols import Cache, Embedder
from iterative_rag.storage.cache_keys import cache_key

# How far the length of a vector in single precision may be from 1.
NORM_TOLERANCE = 1e-3


class QueryVectors:
    """Safe to use from several threads."""

    def __init__(self, embedder: Embedder, cache: Cache | None = None) -> None:
        self._embedder = embedder
        self._cache = cache

    def of(self, query: str) -> list[float]:
        """Raises EmbedderError."""
        if self._cache is None:
            fresh: list[float] = self._embedder.embed_query(query).tolist()
            return fresh
        key = cache_key("query-vector", self._embedder.name, self._embedder.dimensions, query)
        kept = self._cache.get(key, self._checked)
        if kept is not None:
            return kept
        vector: list[float] = self._embedder.embed_query(query).tolist()
        self._cache.put(key, vector)
        return vector

    def _checked(self, value: Any) -> list[float]:
        """A unit vector of this embedder's dimensions. Raises ValueError."""
        if not isinstance(value, list) or len(value) != self._embedder.dimensions:
            raise ValueError("no vector of these dimensions")
        if not all(isinstance(number, float) for number in value):
            raise ValueError("no vector of numbers")
        if not abs(math.hypot(*value) - 1) < NORM_TOLERANCE:  # also where a number is infinite
            raise ValueError("no unit vector")
        return value
