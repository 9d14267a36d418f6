"""Embeds in a thread of this process while the caller prepares the next batch."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from iterative_rag.protocols import Embedder, Vectors

if TYPE_CHECKING:
    from concurrent.futures import Future

# An interrupted command ends after this many texts, not after the whole batch.
PIECE = 64


class LocalEngine:
    """The embedder itself has all cores; a second batch beside the first would not be faster."""

    ahead = 1

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._closed = threading.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="iterative-rag embedding")

    def submit(self, texts: Sequence[str]) -> Future[Vectors]:
        return self._thread.submit(self._embed, texts)

    def close(self) -> None:
        """Abandon the batches that are being embedded."""
        self._closed.set()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        pieces = []
        for first in range(0, len(texts), PIECE):
            if self._closed.is_set():
                break
            pieces.append(self._embedder.embed_documents(texts[first : first + PIECE]))
        return np.concatenate(pieces) if pieces else np.zeros((0, self._embedder.dimensions), np.float32)
