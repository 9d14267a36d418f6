"""The ways in which retrieval is measured: the choices that the command line offers, without what carries them out."""

from __future__ import annotations

from enum import StrEnum


class Hops(StrEnum):
    """Where the ranking comes from: the question as one query, or all that the loop lists."""

    SINGLE = "single"
    ITERATIVE = "iterative"


class Search(StrEnum):
    """What ranks: both halves fused, as in the product, or one of them alone."""

    HYBRID = "hybrid"
    DENSE = "dense"
    BM25 = "bm25"
