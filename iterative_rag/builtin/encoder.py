"""The built-in text encoder: maps texts to unit vectors on the CPU, without a server or a download.

all-MiniLM-L6-v2 (Wang et al. 2020; Reimers and Gurevych 2019), tuned and quantized to int8, see MODEL_CARD.md. Every
text is encoded alone on one thread, several in parallel: on a CPU this is as fast as batching, and a vector does not
depend on the other texts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Final

from iterative_rag.builtin.networks import (
    lazy,
    load_network,
    packaged_weights,
    read_file,
    tokenizer,
    usable_cores,
    valid_unicode,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from iterative_rag.protocols import Cache, Embedder
    from iterative_rag.remote.model_spec import Spec

    Vectors = npt.NDArray[np.float32]

NAME: Final = "builtin/all-minilm-l6-v2-tuned@1"
DIMENSIONS: Final = 384
MAX_TOKENS: Final = 256
# sha256 of each file as printed by scripts/export_encoder.py. New weights need a new NAME, which indexes store.
_NETWORK, _VOCABULARY = "encoder.onnx", "tokenizer.json"
WEIGHTS: Final = {
    _NETWORK: "c3fc3a213ea3249215840e8cc16455920d993463d347acbcc20242d19da7f186",
    _VOCABULARY: "6681992d43e581b35b3dd61f3c81ee0f891fbf13ad54f8b692ea868bd46b066b",
}
_MOST_TEXTS_A_TASK: Final = 4


class BuiltinEncoder:
    """Encodes texts, truncated to 256 tokens; thread-safe. The network is loaded at the first text.

    `threads` is the number of texts encoded in parallel (default: the cores that this process may use). Every method
    raises WeightsError if the weights are missing or damaged.
    """

    def __init__(self, *, threads: int | None = None, weights: Traversable | None = None) -> None:
        self._threads = threads or usable_cores()
        self._loaded = lazy(EncoderNetwork, weights)

    @property
    def name(self) -> str:
        """Identifies the weights; an index made under one name cannot be searched under another."""
        return NAME

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    @property
    def max_tokens(self) -> int:
        return MAX_TOKENS

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Encode texts as unit vectors: float32 of shape (len(texts), 384). An empty text has a vector as well."""
        import numpy as np

        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        model = self._loaded()
        # Small tasks keep all cores busy to the end; large ones save scheduling overhead.
        step = max(1, min(_MOST_TEXTS_A_TASK, len(texts) // (4 * self._threads)))

        def encode(start: int) -> None:
            for row in range(start, min(start + step, len(texts))):
                vectors[row] = model.encode(texts[row])

        starts = range(0, len(texts), step)
        # One pool per call: nothing to close, and no broken pool is inherited by a fork.
        with ThreadPoolExecutor(self._threads, "encoder") as pool:
            list(pool.map(encode, starts))  # raises what a task has raised
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Encode one text as a unit vector, float32 of shape (384,), the same as `embed_documents` returns for it."""
        return self._loaded().encode(text)


def build(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """For the registry of embedders; the encoder has no server to wait for, and keeps nothing."""
    return BuiltinEncoder()


def word_rank(word: str) -> int:
    """The place of a word in the vocabulary, where common words come first; 0 if it has no such word as a whole. Raises
    WeightsError."""
    return _vocabulary().get(word, 0)


@lru_cache(maxsize=1)
def _vocabulary() -> dict[str, int]:
    """Word pieces with their numbers, read without what runs the network: a repeated question needs no more."""
    content = read_file(packaged_weights(), _VOCABULARY, WEIGHTS[_VOCABULARY])
    vocabulary: dict[str, int] = json.loads(content)["model"]["vocab"]
    return vocabulary


class EncoderNetwork:
    """The loaded tokenizer and network. Both are read-only, so threads may share them."""

    def __init__(self, weights: Traversable) -> None:
        self._network = load_network(weights, _NETWORK, WEIGHTS[_NETWORK])
        self._tokenizer = tokenizer(read_file(weights, _VOCABULARY, WEIGHTS[_VOCABULARY]))
        self._end: int = self._tokenizer.encode("").ids[-1]

    def encode(self, text: str) -> Vectors:
        import numpy as np

        inputs = {"input_ids": np.array(self.token_ids(text), np.int64)}
        vector: Vectors = self._network.run(inputs)[0]
        return vector

    def token_ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(valid_unicode(text)).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], self._end]
