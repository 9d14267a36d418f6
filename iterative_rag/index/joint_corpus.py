"""Several open corpora as one: each is searched by itself, and their rankings are fused."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Protocol
from urllib.parse import quote

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Corpus
from iterative_rag.types import Document, Hit


class _Listed(Protocol):
    """A corpus that can list its titles and find by them."""

    def titles(self) -> list[str]: ...

    def find(self, title: str) -> list[Document]: ...


class JointCorpus:
    """Implements protocols.Corpus over corpora that were made with the same embedder. Safe to use from several threads.

    The id of a document begins with its corpus. A text that stands in several of them counts once, for the document
    that was found first, so that no text is a witness for itself.
    """

    def __init__(self, parts: Sequence[Corpus]) -> None:
        self.parts = tuple(parts)
        self._by_prefix = {_prefix(part.name): part for part in parts}
        self._lock = threading.Lock()
        self._original: dict[str, str] = {}  # id -> the id that stands for its text
        self._first: dict[str, str] = {}  # digest of a text -> the id that was found first
        self._sources: dict[str, list[str]] = {}  # of the copies, by the id of the first
        self._corpus_of: dict[str, str] = {}  # by the source of a document that was read

    @property
    def name(self) -> str:
        return ",".join(part.name for part in self.parts)

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document of any of them does."""
        return "+".join(f"{_prefix(part.name)}{part.fingerprint}" for part in self.parts)

    @property
    def notice(self) -> str:
        """What the user has to know of each of them; "" for nothing."""
        said = ((part.name, getattr(part, "notice", "")) for part in self.parts)
        return " ".join(f"{name}: {notice}" for name, notice in said if notice)

    @property
    def languages(self) -> dict[str, int]:
        """The number of documents in each language, of those that know it."""
        counted: Counter[str] = Counter()
        for part in self.parts:
            counted.update(getattr(part, "languages", {}))
        return dict(counted)

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query. Scores are sums of reciprocal ranks within each corpus, so that one
        is as good as the other; equals take turns in the order of the corpora."""
        found: list[list[Hit]] = [[] for _ in queries]
        for part in self.parts:
            prefix = _prefix(part.name)
            for together, hits in zip(found, part.search(queries, limit), strict=True):
                together += [replace(hit, document_id=prefix + hit.document_id) for hit in hits]
        return [self._without_copies(sorted(hits, key=lambda hit: -hit.score))[:limit] for hits in found]

    def document(self, document_id: str) -> Document:
        """Raises CorpusError where none of them has it."""
        document = self._read(document_id)
        with self._lock:
            copies = tuple(self._sources.get(document_id, ()))
        return replace(document, copies=(*document.copies, *copies))

    def corpus_of(self, source: str) -> str:
        """The name of the corpus that a document of this source was read from; "" where none was."""
        return self._corpus_of.get(source, "")

    def titles(self) -> list[str]:
        """The titles of all documents, sorted."""
        return sorted(title for part in self.parts for title in _listed(part).titles())

    def find(self, title: str) -> list[Document]:
        """The documents of that title in any of them. Raises CorpusError, naming near titles, where none has it."""
        found: list[Document] = []
        missed: CorpusError | None = None
        for part in self.parts:
            try:
                documents = _listed(part).find(title)
            except CorpusError as error:
                missed = missed or error
                continue
            found += [replace(one, id=_prefix(part.name) + one.id) for one in documents]
        if not found and missed is not None:
            raise missed
        return found

    def close(self) -> None:
        with ExitStack() as closing:
            for part in self.parts:
                closing.callback(part.close)

    def _read(self, document_id: str) -> Document:
        prefix, slash, own = document_id.partition("/")
        part = self._by_prefix.get(prefix + slash)
        if part is None:
            raise CorpusError(
                f"None of the corpora {self.name} has a document {document_id!r}.",
                hint="It may have been removed a moment ago.",
            )
        document = part.document(own)
        self._corpus_of.setdefault(document.source, part.name)
        return replace(document, id=document_id)

    def _without_copies(self, hits: Sequence[Hit]) -> list[Hit]:
        return [hit for hit in hits if self._stands_for(hit.document_id) == hit.document_id]

    def _stands_for(self, document_id: str) -> str:
        """The document that was found first with the text of this one."""
        with self._lock:
            if document_id in self._original:
                return self._original[document_id]
        document = self._read(document_id)
        digest = hashlib.sha256(document.text.encode()).hexdigest()
        with self._lock:
            first = self._first.setdefault(digest, document_id)
            if self._original.setdefault(document_id, first) != document_id and first != document_id:
                self._sources.setdefault(first, []).append(document.source)
            return self._original[document_id]


def _prefix(name: str) -> str:
    return quote(name, safe="") + "/"


def _listed(part: Corpus) -> _Listed:
    listed: _Listed = part  # type: ignore[assignment]  # all that are opened by name can
    return listed
