"""A corpus, a cache and a source of documents that live in memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from fakes.hashing_embedder import HashingEmbedder
from iterative_rag.errors import CorpusError
from iterative_rag.index.corpora import Corpora
from iterative_rag.index.ingest import ingest
from iterative_rag.retrieval.lost_rows import with_lost_rows
from iterative_rag.text.unspaced import UNSPACED
from iterative_rag.types import Document, Hit

_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+")  # without spaces, every letter is a word


class MemoryCorpus:
    """Each document is one passage; a hit is a document that shares words with the query, most shared first."""

    name = "memory"
    fingerprint = "1"

    def __init__(self, texts: dict[str, str], languages: Mapping[str, int] | None = None) -> None:
        self.languages = languages or {}
        held = (with_lost_rows(Document(title, title, text, f"{title}.md")) for title, text in texts.items())
        self.documents = {document.id: document for document in held}

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        return [self._search(query, limit) for query in queries]

    def _search(self, query: str, limit: int) -> list[Hit]:
        words = set(_WORD.findall(query.lower()))
        scored = [(len(words & set(_WORD.findall(f"{d.title} {d.text}".lower()))), d) for d in self.documents.values()]
        ranked = sorted((item for item in scored if item[0]), key=lambda item: -item[0])
        return [Hit(d.id, d.title, 0, len(d.text), 1 / (60 + rank)) for rank, (_, d) in enumerate(ranked[:limit])]

    def document(self, document_id: str) -> Document:
        if document_id not in self.documents:
            raise CorpusError(f"There is no document {document_id}.")
        return self.documents[document_id]

    def close(self) -> None:
        """Nothing is open."""


class DictCache:
    """Implements protocols.Cache in memory."""

    def __init__(self) -> None:
        self.entries: dict[str, Any] = {}

    def get(self, key: str, read: Callable[[Any], Any]) -> Any | None:
        try:
            return read(self.entries[key])
        except (KeyError, ValueError):
            self.entries.pop(key, None)
            return None

    def put(self, key: str, value: object) -> None:
        self.entries[key] = value

    def close(self) -> None:
        """Nothing is open."""


class DocumentList:
    """Implements protocols.DocumentSource with the documents that it is given."""

    root = "memory"

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents

    @property
    def total(self) -> int:
        return len(self._documents)

    def documents(self) -> Iterator[Document]:
        yield from self._documents


def index_documents(corpora: Corpora, name: str, documents: Sequence[Document], embedder: HashingEmbedder) -> None:
    ingest([DocumentList(documents)], corpora, name, embedder)
