"""BM25 as sparse vectors: the one place that turns text into them, whatever store holds them."""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

# Mean number of terms of a 500-character passage with its header, after stop words (measured on Wikipedia text).
MEAN_TERMS = 40.0

Sparse = tuple[list[int], list[float]]  # indices and values

_local = threading.local()


def bm25_document(text: str) -> Sparse:
    """Term weights of a passage; the store multiplies them by the inverse document frequency."""
    vector = _model().embed_document(text)
    return vector.indices, vector.values


@lru_cache(maxsize=1024)
def bm25_query(text: str) -> Sparse:
    """The terms of a query, each of weight 1; empty when it holds only stop words."""
    vector = _model().embed_query(text)
    return vector.indices, vector.values


def _model() -> Any:
    """One model a thread: its thread-safety is not promised."""
    if not hasattr(_local, "model"):
        from qdrant_edge import Bm25, Bm25Config

        _local.model = Bm25(Bm25Config(avg_len=MEAN_TERMS, language="english", ascii_folding=True))
    return _local.model
