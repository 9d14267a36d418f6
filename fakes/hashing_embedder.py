"""An embedder without a model: words hashed to signed directions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from iterative_rag.protocols import Vectors

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """Texts that share words have a positive cosine; the same text has the same vector on every machine."""

    def __init__(self, dimensions: int = 384) -> None:
        self.dimensions = dimensions
        self.name = f"hashing-{dimensions}"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Shape (len(texts), dimensions), rows of length 1."""
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word in _WORD.findall(text.casefold()):
                digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
                position = int.from_bytes(digest[:4], "big") % self.dimensions
                row[position] += 1.0 if digest[4] & 1 else -1.0
            length = float(np.linalg.norm(row))
            if length:
                row /= length
            else:
                row[0] = 1.0  # a text without words still has a direction
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,)."""
        vector: Vectors = self.embed_documents([text])[0]
        return vector
