"""What ranks passages beside the index: vectors of queries, from the cache where possible (a repeated question loads no
model), and a reranker."""

from __future__ import annotations

import base64
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from iterative_rag.protocols import Cache, Embedder, Reranker, Vectors
from iterative_rag.storage.cache import cache_key
from iterative_rag.types import Hit

# How far the length of a vector in single precision may be from 1.
NORM_TOLERANCE = 1e-3
# Passages that each half is asked for at least: one that both rank low can still win.
SEARCH_DEPTH = 100
# The constant of reciprocal rank fusion (Cormack et al., 2009): weight / (FUSION_K + rank), added up, where the two
# halves of the index weigh 1 each.
FUSION_K = 60
# Passages that a reranker reads for one query, and what its ranking counts beside those of the two halves. Of
# 20 or 40 passages and weights of 0.5, 1, 2 and 4 these did best at 10 articles on both training files together.
RERANK_DEPTH = 40
RERANK_WEIGHT = 2.0


class Ranker:
    """Safe to use from several threads."""

    def __init__(self, embedder: Embedder, cache: Cache | None = None, reranker: Reranker | None = None) -> None:
        self._embedder, self._cache, self._reranker = embedder, cache, reranker

    def needed(self, limit: int) -> int:
        """How many hits `reranked` has to be given for so many."""
        return max(limit, RERANK_DEPTH) if self._reranker else limit

    def reranked(self, query: str, hits: Sequence[Hit], text: Callable[[Hit], str]) -> list[Hit]:
        """The hits in the order of all three rankings, where there is a reranker; it reads the first of them alone."""
        if not self._reranker:
            return list(hits)
        read = hits[:RERANK_DEPTH]
        scores = self._reranker.relevance(query, [(hit.title, text(hit)) for hit in read])
        order = sorted(range(len(read)), key=lambda index: (-scores[index], index))
        judged = [
            replace(hits[index], score=hits[index].score + RERANK_WEIGHT / (FUSION_K + rank), reader_rank=rank)
            for rank, index in enumerate(order, start=1)
        ]
        # Sorting is stable: ties keep the reranker's order.
        return sorted([*judged, *hits[len(read) :]], key=lambda hit: -hit.score)

    def of(self, query: str) -> list[float]:
        """Raises EmbedderError."""
        key = cache_key("query-vector", self._embedder.name, self._embedder.dimensions, query)
        vector: list[float] | None = self._cache.get(key, self._checked) if self._cache else None
        if vector is None:
            vector = list(self._embedder.embed_query(query).tolist())
            if self._cache:
                self._cache.put(key, vector)
        return vector

    def similarities(self, query: str, texts: Sequence[str], deadline: float, batch: int) -> list[float]:
        """How near each text is to the query, of the first ones whose vectors are kept or made by the deadline (of
        time.monotonic); those of the first `batch` are made in any case."""
        import numpy as np

        name, size = self._embedder.name, self._embedder.dimensions
        wanted, scores = np.array(self.of(query), np.float32), list[float]()
        for low in range(0, len(texts), batch):
            keys = [cache_key("passage-vector", name, size, text) for text in texts[low : low + batch]]
            kept = [self._cache.get(key, self._unpacked) if self._cache else None for key in keys]
            missing = [low + n for n, vector in enumerate(kept) if vector is None]
            if missing and low and time.monotonic() > deadline:
                break
            fresh = iter(self._embedder.embed_documents([texts[n] for n in missing]) if missing else ())
            for key, vector in zip(keys, kept, strict=True):
                if vector is None:
                    vector = next(fresh)
                    if self._cache:
                        self._cache.put(key, base64.b64encode(vector.astype("<f4").tobytes()).decode())
                scores.append(float(vector @ wanted))
        return scores

    def _unpacked(self, value: Any) -> Vectors:
        """A unit vector of this embedder's dimensions out of its bytes. Raises ValueError."""
        import numpy as np

        vector = np.frombuffer(base64.b64decode(value if isinstance(value, str) else "", validate=True), "<f4")
        self._checked(vector.tolist())
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
