"""Any LlamaIndex embedding object as an Embedder: batches, unit vectors, errors of our own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from iterative_rag.errors import EmbedderError, LLMError
from iterative_rag.protocols import Vectors
from iterative_rag.remote import Line, Server, persistently, translated

if TYPE_CHECKING:
    from llama_index.core.base.embeddings.base import BaseEmbedding

# Embedded once to learn the dimensions.
PROBE = "dimensions"


class LlamaIndexEmbedder:
    """Wraps a BaseEmbedding as it is. `timeout` bounds each batch, in seconds, where the object obeys `line`."""

    def __init__(
        self, model: BaseEmbedding, *, name: str = "", kind: str = "", timeout: float = 120.0, line: Line | None = None
    ) -> None:
        self._model = model
        self._timeout = timeout
        self._line = line or Line()
        self._lock = threading.Lock()
        self._dimensions = 0
        self.name = name or f"{model.class_name()}/{model.model_name}"
        url = getattr(model, "base_url", None) or getattr(model, "api_base", None) or ""
        self._server = Server(kind or model.class_name(), str(url), model.model_name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    @property
    def dimensions(self) -> int:
        """Asked of the model once, by embedding a word."""
        with self._lock:
            if not self._dimensions:
                self._dimensions = len(self._called(lambda: self._model.get_query_embedding(PROBE)))
            return self._dimensions

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions). Raises EmbedderError."""
        size = self._model.embed_batch_size
        rows: list[list[float]] = []
        for start in range(0, len(texts), size):
            batch = list(texts[start : start + size])
            got = self._called(partial(self._model.get_text_embedding_batch, batch))
            if len(got) != len(batch):
                raise EmbedderError(f"{self._server} returned {len(got)} vectors for {len(batch)} texts.")
            rows.extend(got)
        return self._unit(rows)

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,). Raises EmbedderError."""
        row: Vectors = self._unit([self._called(lambda: self._model.get_query_embedding(text))])[0]
        return row

    def _called(self, call: Callable[[], Any]) -> Any:
        def attempt() -> Any:
            try:
                return call()
            except Exception as error:  # noqa: BLE001 - the boundary to foreign code: whatever it raises becomes ours
                # Not chained: the library's own error holds the request, whose headers hold the key.
                raise translated(error, self._server, begun=False) from None

        try:
            return persistently(attempt, self._timeout, self._line)
        except LLMError as error:
            raise EmbedderError(str(error), hint=error.hint) from error

    def _unit(self, rows: Sequence[Sequence[float]]) -> Vectors:
        import numpy as np

        if not rows:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        if {len(row) for row in rows} != {self.dimensions}:
            raise EmbedderError(f"{self._server} returned vectors of other than {self.dimensions} dimensions.")
        vectors = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderError(f"{self._server} returned a vector without a direction (zero or not a number).")
        unit: Vectors = vectors / lengths
        return unit
