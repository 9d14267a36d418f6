"""Finds in a question what must be found first: a small network that points at the words that stand for it.

The question goes in as word pieces; out come the kind of the question and a score for every stretch of words. Nothing
is generated: what is asked next and what is put back are words of the question (see `splicing`). MODEL_CARD.md tells
what the network was trained on and how often it is right.
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

from iterative_rag.builtin.network_cache import kept
from iterative_rag.builtin.networks import damaged, lazy, load_network, packaged_weights, read_file, tokenizer
from iterative_rag.builtin.question.span_decoding import QuestionKind, Split, decoded, deepened
from iterative_rag.protocols import Cache
from iterative_rag.text.patterns import lazy_pattern

NETWORK: Final = "splitter.onnx"
FACTS: Final = "splitter.json"
MAX_PIECES: Final = 192  # of a question; what follows is not looked at
SHAPES: Final = 12
# Of what is read from the network's scores. What is kept under it was read by the same rules.
READING: Final = 1


class Splitter:
    """Takes questions apart. Costs nothing until the first; one instance may be called from several threads.

    A question that `cache` has seen is not looked at again. `split` raises WeightsError where the weights are missing
    or damaged.
    """

    def __init__(self, *, weights: Traversable | None = None, cache: Cache | None = None) -> None:
        self._weights = weights or packaged_weights()
        self._loaded = lazy(_SplitterNetwork, weights)
        self._cache = cache

    def split(self, question: str) -> Split:
        """The same for a question whatever else is asked; a question without words is single."""
        if not any(character.isalnum() for character in question):
            return Split(question, QuestionKind.SINGLE, (1.0, 0.0, 0.0, 0.0), confidence=1.0)
        key = ["split", READING, self._version(), question]
        return kept(self._cache, key, _form(), lambda: self._loaded().split(question), partial(_fits, question))

    def _version(self) -> str:
        """The hash of the file that names the network and holds its vocabulary and calibration."""
        return hashlib.sha256(read_file(self._weights, FACTS)).hexdigest()


@lru_cache(maxsize=1)
def _form() -> TypeAdapter[Split]:
    return TypeAdapter(Split)


def _fits(question: str, split: Split) -> bool:
    """Whether a kept split can be one of this question."""
    return (
        split.question == question
        and len(split.probabilities) == len(QuestionKind)
        and all(math.isfinite(one) for one in (*split.probabilities, split.confidence))
        and all(0 <= one.start < one.end <= len(question) for one in (*split.inner, *split.parts))
    )


def load() -> None:
    """Load the package's weights, unless that was done. Raises WeightsError."""
    lazy(_SplitterNetwork, None)()


class _SplitterNetwork:
    """The loaded tokenizer and network. Both only read their state, so threads may share them."""

    def __init__(self, weights: Traversable) -> None:
        facts = _facts(weights)
        self._network = load_network(weights, NETWORK, str(facts.get("sha256")))
        self._tokenizer = tokenizer(json.dumps(facts["tokenizer"]).encode())
        self._tokenizer.enable_truncation(MAX_PIECES)
        self._calibration: dict[str, list[float]] = facts["calibration"]

    def split(self, question: str) -> Split:
        # Half a surrogate pair, as a damaged file may hold, is not valid Unicode; "?" keeps the offsets right.
        text = _LONE.sub("?", question)
        split = deepened(self._look(text), self._look)
        return split if text == question else replace(split, question=question)

    def _look(self, text: str) -> Split:
        import numpy as np

        encoding = self._tokenizer.encode(text)
        shapes = np.array(shapes_of(text, encoding.offsets), np.int64)
        scores, kinds = self._network.run({"input_ids": np.array(encoding.ids, np.int64), "shapes": shapes})
        return decoded(text, encoding, scores, kinds, self._calibration)


_LONE: Final = lazy_pattern("[\ud800-\udfff]")


def _facts(weights: Traversable) -> dict[str, Any]:
    """What is known of the network, its sha256 too. Raises WeightsError where the file cannot be read."""
    told = read_file(weights, FACTS)
    try:
        facts = json.loads(told)
    except ValueError as error:
        raise damaged(FACTS, len(told)) from error
    if not isinstance(facts, dict):
        raise damaged(FACTS, len(told))
    return facts


def shapes_of(text: str, offsets: Iterable[tuple[int, int]]) -> list[int]:
    """For each word piece how it is written: small, Capital, CAPITALS, digits or a sign; plus 6 between quotes."""
    quoted = _between_quotes(text)
    return [_shape(text[start:end]) + 6 * (start in quoted) if end > start else 0 for start, end in offsets]


def _shape(piece: str) -> int:
    if piece[0].isdigit():
        return 5
    if not piece[0].isalpha():
        return 1
    if not piece[0].isupper():
        return 2
    return 4 if len(piece) > 1 and piece.isupper() else 3


def _between_quotes(text: str) -> frozenset[int]:
    return frozenset(at for match in _QUOTED.finditer(text) for at in range(*match.span()))


_QUOTED: Final = lazy_pattern('"[^"]{1,200}"|“[^”]{1,200}”|«[^»]{1,200}»')
