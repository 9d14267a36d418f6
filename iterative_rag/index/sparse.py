"""BM25 as sparse vectors, the same for every store."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import Any

# Mean number of terms of a 500-character passage with its header, after stop words (measured on Wikipedia text).
MEAN_TERMS = 40.0

Sparse = tuple[list[int], list[float]]  # indices and values

# Scripts without spaces between words: Thai to Myanmar, Khmer, kana, and Han with its extensions.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_local = threading.local()


def bm25_document(text: str) -> Sparse:
    """Term weights of a passage; the store multiplies them by the inverse document frequency."""
    vector = _model().embed_document(_separated(text))
    return vector.indices, vector.values


@lru_cache(maxsize=1024)
def bm25_query(text: str) -> Sparse:
    """The terms of a query, each of weight 1; empty when it holds only stop words."""
    vector = _model().embed_query(_separated(text))
    return vector.indices, vector.values


def _separated(text: str) -> str:
    """Text whose words the tokenizer can see: what is written without spaces comes as overlapping pairs of characters
    (as CJK analysers of full-text engines do), and halves of characters that no encoding holds are gone."""
    if text.isascii():
        return text
    return _UNSPACED.sub(_pairs, text.encode("utf-8", "replace").decode())


def _pairs(run: re.Match[str]) -> str:
    text = run[0]
    pairs = [text[place : place + 2] for place in range(len(text) - 1)] or [text]
    return f" {' '.join(pairs)} "


def _model() -> Any:
    """One model per thread: it does not promise to be thread-safe."""
    if not hasattr(_local, "model"):
        from qdrant_edge import Bm25, Bm25Config

        _local.model = Bm25(Bm25Config(avg_len=MEAN_TERMS, language="english", ascii_folding=True))
    return _local.model
