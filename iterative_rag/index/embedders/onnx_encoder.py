"""A sentence encoder in ONNX form, on this machine's CPU: multilingual ones search texts in other languages.

Pooling, prompts and length are those of the folder (`1_Pooling/config.json`, `config_sentence_transformers.json`,
`sentence_bert_config.json`); without these files, tokens are averaged and no prompt is added.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from iterative_rag.errors import EmbedderError, WeightsError
from iterative_rag.protocols import Cache, Embedder, Vectors
from iterative_rag.remote.model_spec import Spec
from iterative_rag.retrieval.onnx_folder import HINT, Encoded, OnnxFolder

BATCH = 16
POOLINGS = {
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_cls_token": "first",
    "pooling_mode_lasttoken": "last",
    "pooling_mode_max_tokens": "max",
}
# Names of the prompts of sentence-transformers, best first.
_FOR_QUERIES, _FOR_DOCUMENTS = ("query", "Retrieval-query", "s2p_query"), ("document", "passage", "Retrieval-document")
# A network that pools by itself says so by the name of its output.
_POOLED = "sentence_embedding"
_USED_MODULES = ("Transformer", "Pooling", "Normalize")


class OnnxEncoder:
    """Implements protocols.Embedder. Raises EmbedderError where the folder cannot be used, also when it is made."""

    def __init__(self, path: Path) -> None:
        with _embedder_errors():
            self._folder = OnnxFolder(path)
            prompts = self._folder.settings("config_sentence_transformers.json").get("prompts")
            self._for_query = _prompt(prompts, _FOR_QUERIES)
            self._for_document = _prompt(prompts, _FOR_DOCUMENTS)
            self.name = f"onnx/{self._folder.folder.name} {self._identity()}"
        self._mutex = threading.Lock()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @cached_property
    def dimensions(self) -> int:
        """Told by the pooling of the folder, else found out by embedding a word."""
        told = self._folder.settings("1_Pooling/config.json").get("word_embedding_dimension")
        return told if isinstance(told, int) and told > 0 else int(self._vectors(["dimensions"]).shape[1])

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions). Raises EmbedderError."""
        import numpy as np

        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        # Texts of one length need no padding, which takes as long as words.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors: Vectors = np.empty((len(texts), self.dimensions), np.float32)
        for low in range(0, len(order), BATCH):
            places = order[low : low + BATCH]
            rows = self._vectors([self._for_document + texts[index] for index in places])
            if rows.shape[1] != self.dimensions:
                raise EmbedderError(
                    f"{self._folder.file} gives {rows.shape[1]} dimensions, and its 1_Pooling names {self.dimensions}."
                )
            vectors[places] = rows
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,). Raises EmbedderError."""
        vector: Vectors = self._vectors([self._for_query + text])[0]
        return vector

    def _vectors(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        # Halves of characters, which no tokenizer takes.
        clean = [text.encode("utf-8", "replace").decode() for text in texts]
        with _embedder_errors():
            with self._mutex:  # one batch at a time has all cores
                encoded = self._folder.encode(clean)
                outputs = self._folder.run(encoded)
            pooled = np.asarray(self._pooled(outputs, encoded), np.float32)
        lengths = np.linalg.norm(pooled, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderError(f"{self._folder.file} gave a vector of length zero or with a value that is no number.")
        unit: Vectors = pooled / lengths
        return unit

    def _pooled(self, outputs: Mapping[str, Any], encoded: Encoded) -> Any:
        import numpy as np

        tokens = outputs.get(_POOLED, next(iter(outputs.values())))
        if tokens.ndim == 2:
            return tokens
        if tokens.ndim != 3:
            raise EmbedderError(f"{self._folder.file} is not a sentence encoder.", hint=HINT)
        mask = encoded.mask[:, :, None]
        if self._pooling == "first":
            return tokens[:, 0]
        if self._pooling == "last":
            return tokens[np.arange(len(tokens)), encoded.mask.sum(axis=1) - 1]
        if self._pooling == "max":
            return np.where(mask > 0, tokens, -np.inf).max(axis=1)
        return (tokens * mask).sum(axis=1) / mask.sum(axis=1)

    @cached_property
    def _pooling(self) -> str:
        """The pooling that the folder names, for a network that does not pool. Raises EmbedderError for one that is not
        done here, and for further layers."""
        further = [module for module in self._folder.modules() if module not in _USED_MODULES]
        chosen = self._folder.settings("1_Pooling/config.json")
        modes = [mode for mode, wanted in chosen.items() if mode.startswith("pooling_mode_") and wanted is True]
        if further or len(modes) > 1 or any(mode not in POOLINGS for mode in modes):
            raise EmbedderError(
                f"{self._folder.folder} is to be used with {', '.join([*modes, *further])}, which is not done here.",
                hint=f"Export the model as one ONNX file with all its layers and an output {_POOLED!r}.",
            )
        return POOLINGS[modes[0]] if modes else "mean"

    def _identity(self) -> str:
        """What makes other vectors of the same texts."""
        from iterative_rag.storage.cache_keys import cache_key

        pooling = dict(self._folder.settings("1_Pooling/config.json"))
        used = (pooling, self._for_query, self._for_document, self._folder.max_tokens)
        return cache_key(self._folder.digest, *used)[:12]


@contextmanager
def _embedder_errors() -> Iterator[None]:
    try:
        yield
    except WeightsError as error:
        raise EmbedderError(str(error), hint=error.hint) from error


def _prompt(prompts: object, names: Sequence[str]) -> str:
    held = prompts if isinstance(prompts, dict) else {}
    return next((held[name] for name in names if isinstance(held.get(name), str)), "")


def build(spec: Spec, *, timeout: float, cache: Cache | None) -> Embedder:
    """For the registry of embedders; there is no server to wait for, and nothing is kept."""
    return OnnxEncoder(Path(spec.model))
