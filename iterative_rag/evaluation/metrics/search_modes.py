"""The choices of `evaluate retrieval`, without the code behind them, so that `--help` stays fast."""

from __future__ import annotations

from enum import StrEnum


class Hops(StrEnum):
    """The source of the ranking: the question as one query, or everything the loop shortlists."""

    SINGLE = "single"
    ITERATIVE = "iterative"


class Search(StrEnum):
    """What ranks: both halves fused, as in the product, or one of them alone."""

    HYBRID = "hybrid"
    DENSE = "dense"
    BM25 = "bm25"
