"""Documents from memory as a source, and a corpus made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iterative_rag.embedders.hashing import HashingEmbedder
from iterative_rag.index.corpora import Corpora
from iterative_rag.ingest import ingest
from iterative_rag.types import Document


class Shelf:
    """Implements protocols.DocumentSource."""

    root = "shelf"

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    @property
    def total(self) -> int:
        return len(self._documents)

    def documents(self) -> Iterator[Document]:
        yield from self._documents


def index(corpora: Corpora, name: str, documents: Sequence[Document], embedder: HashingEmbedder) -> None:
    ingest([Shelf(documents)], corpora, name, embedder)
