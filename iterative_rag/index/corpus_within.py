"""A part of an open corpus as a corpus: what a question is kept to."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from iterative_rag.errors import CorpusError
from iterative_rag.index.filters import selection
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.part_spans import blanked
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document, Hit, Within


class CorpusWithin:
    """Implements protocols.Corpus. Ranks as an index of this part alone would; of a document, what lies outside of the
    part reads as blanks. Safe to use from several threads.

    `whole` is pinned, and stays open as long as this is used. Raises NothingWithin where nothing is within.
    """

    def __init__(self, whole: IndexedCorpus, wanted: Sequence[Within]) -> None:
        self._whole = whole
        self._wanted = tuple(wanted)
        self._selection = selection(whole, wanted)
        self._read: dict[str, Document] = {}

    @property
    def name(self) -> str:
        return self._whole.name

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document of the whole corpus does; differs from that of every other part."""
        return f"{self._whole.fingerprint}/{hashlib.sha256(repr(self._wanted).encode()).hexdigest()[:16]}"

    @property
    def notice(self) -> str:
        """Sentences for the user: that this is a part, and whether the corpus is incomplete."""
        chosen, every = len(self._selection.documents), counted(self._selection.of, "document")
        typed = " ".join(str(one) for one in self._wanted if one)
        told = [f"Only a part of the corpus was searched: {typed} ({chosen:,} of {every})."]
        if self._selection.by_file_date:
            documents = counted(self._selection.by_file_date, "document")
            told.append(f"Of {documents} the date is that of the file, for there is no other.")
        if self._selection.undated:
            told.append(f"Left out for having no date: {counted(self._selection.undated, 'document')}.")
        return " ".join(filter(None, [*told, self._whole.notice]))

    @property
    def made_at(self) -> float:
        """When the whole corpus was made."""
        return self._whole.made_at

    @property
    def languages(self) -> dict[str, int]:
        """Those of the whole corpus, as far as they are known."""
        return self._whole.languages

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25, fused by reciprocal rank."""
        return self._whole.search_points(self._selection.points, queries, limit)

    def document(self, document_id: str) -> Document:
        """Raises CorpusError where it is not within this part."""
        if document_id not in self._selection.documents:
            raise CorpusError(
                f"The document {document_id!r} of the corpus {self.name!r} is not in the part that was asked.",
                hint="Ask a larger part.",
            )
        document = self._whole.document(document_id)
        spans = self._selection.documents[document_id]
        if spans is None:
            return document
        if document_id not in self._read:
            text = blanked(document.text, [*spans.own, *spans.context])
            self._read[document_id] = replace(document, text=text)
        return replace(self._read[document_id], copies=document.copies)

    def titles(self) -> list[str]:
        """The titles of the documents in this part, sorted; twice where two documents share one."""
        return list(self._selection.titles)

    def close(self) -> None:
        """Does nothing: the caller closes the whole corpus."""
