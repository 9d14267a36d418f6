"""The built-in text encoder: texts to unit vectors on the processor, without a server or a download.

all-MiniLM-L6-v2 in 8-bit integers, see MODEL_CARD.md. Texts are encoded one by one, each on one thread,
several at a time: that is as fast as batching on a processor, and a vector never depends on its company.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Final

from iterative_rag.builtin.networks import (
    VOCABULARY,
    VOCABULARY_DIGEST,
    lazy,
    load_network,
    read_file,
    shared_tokenizer,
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
# sha256 of each file as scripts/export_encoder.py printed it. New weights need a new NAME: indexes remember it.
_NETWORK: Final = "encoder.onnx"
WEIGHTS: Final = {
    _NETWORK: "c3fc3a213ea3249215840e8cc16455920d993463d347acbcc20242d19da7f186",
    VOCABULARY: VOCABULARY_DIGEST,
}
_MOST_TEXTS_A_TASK: Final = 4


class BuiltinEncoder:
    """Encodes texts of up to 256 tokens; what is longer is cut. Costs nothing until the first text.

    `threads` is how many texts are encoded at a time (default: the cores this process may use). One
    instance may be called from several threads. Every method raises `WeightsError` where the weights are
    missing or damaged.
    """

    def __init__(self, *, threads: int | None = None, weights: Traversable | None = None) -> None:
        self._threads = threads or usable_cores()
        self._loaded = lazy(_EncoderNetwork, weights)

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
        """Vectors of length 1, shape (len(texts), 384), float32. An empty text has a vector, too."""
        import numpy as np

        vectors = np.empty((len(texts), DIMENSIONS), np.float32)
        if not len(texts):
            return vectors
        model = self._loaded()
        # Small tasks keep all cores busy to the end; large ones spare the cost of handing them over.
        step = max(1, min(_MOST_TEXTS_A_TASK, len(texts) // (4 * self._threads)))

        def encode(start: int) -> None:
            for row in range(start, min(start + step, len(texts))):
                vectors[row] = model.encode(texts[row])

        starts = range(0, len(texts), step)
        if len(texts) == 1 or self._threads == 1:
            for start in starts:
                encode(start)
            return vectors
        # A pool a call: nothing to close, and nothing that a fork of this process could inherit broken.
        with ThreadPoolExecutor(min(self._threads, len(starts)), "encoder") as pool:
            for _ in pool.map(encode, starts):
                pass
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """One vector of length 1, shape (384,), the same as `embed_documents` gives for this text."""
        return self._loaded().encode(text)

    def count_tokens(self, text: str) -> int:
        """How many tokens the encoder reads of `text`: at least 2 (start and end), at most 256."""
        return len(self._loaded().token_ids(text))


def build(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """For the registry of embedders; the encoder has no server to wait for, and keeps nothing."""
    return BuiltinEncoder()


def load() -> None:
    """Load the package's weights, unless that was done. Raises WeightsError."""
    lazy(_EncoderNetwork, None)()


class _EncoderNetwork:
    """The loaded tokenizer and network. Both only read their state, so threads may share them."""

    def __init__(self, weights: Traversable) -> None:
        self._network = load_network(weights, _NETWORK, WEIGHTS[_NETWORK])
        self._tokenizer = shared_tokenizer(read_file(weights, VOCABULARY, WEIGHTS[VOCABULARY]))
        self._end: int = self._tokenizer.encode("").ids[-1]

    def encode(self, text: str) -> Vectors:
        import numpy as np

        inputs = {"input_ids": np.array(self.token_ids(text), np.int64)}
        vector: Vectors = self._network.run(inputs)[0]
        return vector

    def token_ids(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(valid_unicode(text)).ids
        return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], self._end]
