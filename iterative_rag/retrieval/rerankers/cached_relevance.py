"""Keeps what a reranker said about the passages of a query, so that a repeated question calls no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from iterative_rag.protocols import Cache
from iterative_rag.storage.cache_keys import cache_key


def cached_relevance(
    cache: Cache | None,
    name: str,
    query: str,
    passages: Sequence[tuple[str, str]],
    score: Callable[[], Sequence[float]],
) -> list[float]:
    """The scores that `score` gives, or those that the cache has, each from 0 to 1."""

    def checked(value: Any) -> list[float]:
        fits = isinstance(value, list) and len(value) == len(passages)
        if not fits or not all(isinstance(one, float) and 0 <= one <= 1 for one in value):
            raise ValueError("no scores of these passages")
        return list(value)

    if not passages:
        return []
    key = cache_key("rerank", name, query, [list(passage) for passage in passages])
    if cache is not None and (kept := cache.get(key, checked)) is not None:
        return kept
    scores = within_bounds(score())
    if cache is not None:
        cache.put(key, scores)
    return scores


def within_bounds(scores: Sequence[float]) -> list[float]:
    """Scores from 0 to 1 in the same order. Logits, which some models give, are squeezed by a function that, other than
    the logistic one, still tells large ones apart."""
    if all(0 <= score <= 1 for score in scores):
        return [float(score) for score in scores]
    return [0.5 + 0.5 * score / (1 + abs(score)) for score in scores]
