"""The trained question splitter: a small network that marks the spans of a question to look up first.

Input: up to MAX_PIECES WordPieces with their shapes. Output: logits of the question's kind and of every span, decoded
by `span_decoding`. Nothing is generated: `substitution` turns spans into sub-questions and puts values in their place.
MODEL_CARD.md describes training data and accuracy.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources.abc import Traversable
from typing import Any, Final

from pydantic import TypeAdapter

from iterative_rag.builtin.networks import (
    cached_result,
    damaged,
    lazy,
    load_network,
    packaged_weights,
    read_file,
    tokenizer,
)
from iterative_rag.builtin.question.span_decoding import QuestionKind, Split, decoded
from iterative_rag.protocols import Cache
from iterative_rag.text.patterns import lazy_pattern

NETWORK: Final = "splitter.onnx"
FACTS: Final = "splitter.json"
MAX_PIECES: Final = 192  # longer questions are truncated
SHAPES: Final = 12
# Version of the decoding rules, part of the cache key: raise it when `span_decoding` changes what it returns.
READING: Final = 6


class Splitter:
    """Splits questions; thread-safe. The network is loaded at the first question that `cache` does not hold.

    `split` raises WeightsError if the weights are missing or damaged.
    """

    def __init__(self, *, weights: Traversable | None = None, cache: Cache | None = None) -> None:
        self._weights = weights or packaged_weights()
        self._loaded = lazy(SplitterNetwork, weights)
        self._cache = cache

    def split(self, question: str) -> Split:
        """Split a question; the result depends on nothing else. A question without words is SINGLE."""
        if not any(character.isalnum() for character in question):
            return Split(question, QuestionKind.SINGLE, (1.0, 0.0, 0.0, 0.0))
        key = ["split", READING, self._version(), question]
        return cached_result(
            self._cache, key, _form(), lambda: self._loaded().split(question), partial(_fits, question)
        )

    def _version(self) -> str:
        """SHA-256 of the file that identifies the network and holds its vocabulary."""
        return hashlib.sha256(read_file(self._weights, FACTS)).hexdigest()


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[Split]:
    return TypeAdapter(Split)


def _fits(question: str, split: Split) -> bool:
    """Whether a cached split is a valid one of this question."""
    return (
        split.question == question
        and len(split.probabilities) == len(QuestionKind)
        and all(map(math.isfinite, split.probabilities))
        and all(0 <= span.start < span.end <= len(question) for span in split.inner)
    )


class SplitterNetwork:
    """The loaded tokenizer and network. Both are read-only, so threads may share them."""

    def __init__(self, weights: Traversable) -> None:
        facts = _facts(weights)
        self._network = load_network(weights, NETWORK, str(facts.get("sha256")))
        self._tokenizer = tokenizer(json.dumps(facts["tokenizer"]).encode())
        self._tokenizer.enable_truncation(MAX_PIECES)

    def split(self, question: str) -> Split:
        import numpy as np

        # A lone surrogate, as in a damaged file, is not valid Unicode; "?" keeps the character offsets.
        text = _LONE.sub("?", question)
        encoding = self._tokenizer.encode(text)
        shapes = np.array(shapes_of(text, encoding.offsets), np.int64)
        outputs = self._network.run({"input_ids": np.array(encoding.ids, np.int64), "shapes": shapes})
        return replace(decoded(text, encoding, outputs), question=question)


_LONE: Final = lazy_pattern("[\ud800-\udfff]")


def _facts(weights: Traversable) -> dict[str, Any]:
    """Read the network's sha256 and tokenizer. Raises WeightsError if the file is missing or damaged."""
    told = read_file(weights, FACTS)
    try:
        facts = json.loads(told)
    except ValueError as error:
        raise damaged(FACTS, len(told)) from error
    if not isinstance(facts, dict):
        raise damaged(FACTS, len(told))
    return facts


def shapes_of(text: str, offsets: Iterable[tuple[int, int]]) -> list[int]:
    """Shape ids of the pieces: 0 special, 1 sign, 2 lower, 3 Title, 4 UPPER, 5 digits; plus 6 inside quotes."""
    quoted = {at for match in _QUOTED.finditer(text) for at in range(*match.span())}
    return [_shape(text[start:end]) + 6 * (start in quoted) if end > start else 0 for start, end in offsets]


def _shape(piece: str) -> int:
    if piece[0].isdigit():
        return 5
    if not piece[0].isalpha():
        return 1
    if not piece[0].isupper():
        return 2
    return 4 if len(piece) > 1 and piece.isupper() else 3


_QUOTED: Final = lazy_pattern('"[^"]{1,200}"|“[^”]{1,200}”|«[^»]{1,200}»')
