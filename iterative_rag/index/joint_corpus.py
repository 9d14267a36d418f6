"""Several open corpora as one: each is searched by itself, and their rankings are fused."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from urllib.parse import quote, unquote

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import no_document
from iterative_rag.index.filters import CorpusPart
from iterative_rag.index.indexed_corpus import Copies, IndexedCorpus
from iterative_rag.protocols import Corpus
from iterative_rag.types import Citation, Document, Hit


class JointCorpus:
    """Implements protocols.Corpus over corpora that were made with the same embedder. Safe to use from several threads.

    The id of a document begins with its corpus. A text that stands in several of them counts once, for the document
    that was found first, so that no text is a witness for itself.
    """

    def __init__(self, parts: Sequence[Corpus]) -> None:
        self.parts = tuple(parts)
        self.name = ",".join(part.name for part in parts)
        self._by_prefix = {_prefix(part.name): part for part in parts}
        self._lock = threading.Lock()
        self._copies = Copies(self._described, lambda one, other: self._read(one).text == self._read(other).text)
        self._read_from: dict[str, list[tuple[str, str]]] = {}  # by its source, the corpus and text of what was read

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
    def made_at(self) -> float:
        """When the first of them was made, of those that know it."""
        return min((getattr(part, "made_at", math.inf) for part in self.parts), default=math.inf)

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
        by_query: list[list[Hit]] = [[] for _ in queries]
        for part in self.parts:
            prefix = _prefix(part.name)
            for together, hits in zip(by_query, part.search(queries, limit), strict=True):
                together += [replace(hit, document_id=prefix + hit.document_id) for hit in hits]
        return [self._without_copies(sorted(hits, key=lambda hit: -hit.score))[:limit] for hits in by_query]

    def document(self, document_id: str) -> Document:
        """Raises CorpusError where none of them has it."""
        document = self._read(document_id)
        return replace(document, copies=(*document.copies, *self._copies.sources(document_id)))

    def corpus_of(self, citation: Citation) -> str:
        """The name of the corpus that a citation is from; "" where no document of its source was read. Where one file
        was indexed into several at different times, it is the first that holds the quote at its place."""
        read = self._read_from.get(citation.source, [])
        span = slice(citation.start, citation.end)
        holding = [name for name, text in read if text[span] == citation.quote]
        return next(iter(holding or [name for name, _ in read]), "")

    @property
    def lists(self) -> bool:
        """Whether all of them can list their titles and find by them."""
        return all(isinstance(part, IndexedCorpus) for part in self.parts)

    def titles(self) -> list[str]:
        """The titles of all documents, sorted, of those that list them."""
        listing: list[Any] = [part for part in self.parts if hasattr(part, "titles")]
        return sorted(title for part in listing for title in part.titles())

    def titles_near(self, text: str) -> list[str]:
        """Titles with words of a text, of those that do not list theirs."""
        suggesting: list[Any] = [part for part in self.parts if hasattr(part, "titles_near")]
        return [title for part in suggesting for title in part.titles_near(text)]

    def among(self, document_ids: Collection[str]) -> JointCorpus:
        """These documents alone, as long as this one is open. Only where it `lists`."""
        chosen = {part: _own_ids(document_ids, part) for part in self.parts if isinstance(part, IndexedCorpus)}
        return JointCorpus([CorpusPart(part, ids) for part, ids in chosen.items() if ids])

    def find(self, title: str) -> list[Document]:
        """The documents of that title in any of them. Raises CorpusError, naming near titles, where none has it."""
        titled: list[Document] = []
        missed: CorpusError | None = None
        listing: Sequence[Any] = self.parts  # all that are opened by name can find titles
        for part in listing:
            try:
                documents = part.find(title)
            except CorpusError as error:
                missed = missed or error
                continue
            titled += [replace(document, id=_prefix(part.name) + document.id) for document in documents]
        if not titled and missed is not None:
            raise missed
        return titled

    def close(self) -> None:
        with ExitStack() as closing:
            for part in self.parts:
                closing.callback(part.close)

    def _read(self, document_id: str) -> Document:
        prefix, slash, own = document_id.partition("/")
        part = self._by_prefix.get(prefix + slash)
        if part is None:
            raise no_document(self.name, document_id)
        document = part.document(own)
        read = part.name, document.text
        with self._lock:
            from_source = self._read_from.setdefault(document.source, [])
            if read not in from_source:
                from_source.append(read)
        return replace(document, id=document_id)

    def _without_copies(self, hits: Sequence[Hit]) -> list[Hit]:
        self._copies.learn(hit.document_id for hit in hits)
        return [hit for hit in hits if self._copies.original(hit.document_id).id == hit.document_id]

    def _described(self, ids: Sequence[str]) -> dict[str, tuple[str, str, int]]:
        documents = map(self._read, ids)
        return {document.id: (document.title, document.source, len(document.text)) for document in documents}


def corpus_and_id(asked: str, document_id: str) -> tuple[str, str]:
    """The corpus of a document and its id there. `asked` is the corpus of its run, or several between commas."""
    prefix, slash, own = document_id.partition("/")
    if slash and "," in asked and (name := unquote(prefix)) in asked.split(","):
        return name, own
    return asked, document_id


def _prefix(name: str) -> str:
    return quote(name, safe="") + "/"


def _own_ids(document_ids: Collection[str], part: Corpus) -> set[str]:
    prefix = _prefix(part.name)
    return {document_id.removeprefix(prefix) for document_id in document_ids if document_id.startswith(prefix)}
