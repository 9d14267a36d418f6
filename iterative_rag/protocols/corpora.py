"""Where documents come from and where they are found: sources, corpora, the web where the user allows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from iterative_rag.types import Document, Hit, SearchResult


class Corpus(Protocol):
    """An indexed corpus, opened for searching and reading. Called from several threads at once.

    Every method may raise CorpusError. What `search` finds can be read by `document` as long as the corpus is open.
    """

    @property
    def name(self) -> str:
        """The name that the user gave it, shown in answers and traces."""

    @property
    def fingerprint(self) -> str:
        """Differs after any document was added, changed or removed."""

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """For each query at most `limit` passages, best first: dense vectors and BM25, fused by reciprocal rank."""

    def document(self, document_id: str) -> Document:
        """The whole document. Raises CorpusError if there is none of that id."""

    def close(self) -> None:
        """Closes files and connections. The corpus is not used after it."""


# The root of documents that a Python program gave: there is no file or folder to read them from again.
GIVEN = "python:documents"


class DocumentSource(Protocol):
    """Where the documents of an index come from: a folder, a dump, a list of pages."""

    @property
    def root(self) -> str:
        """Identifies the source in the index: its documents that are no longer yielded are removed."""

    @property
    def total(self) -> int | None:
        """An upper bound of the number of documents, if known in advance."""

    def documents(self) -> Iterable[Document | Skipped]:
        """Every document, one at a time, so that a source larger than memory can be read.

        A file that cannot be read is yielded as a Skipped and does not end the iteration. Raises CorpusError where the
        source itself cannot be opened.
        """


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or record that was not read as a document; `reason` says why, in one sentence.

    `empty`: it was read and holds nothing, so what it held before is removed from the index. `rest_unread`: the source
    broke off here, so documents that are missing after it are kept in the index. `unread`: it could not be opened, so
    what the index holds of it, or of what lies in it, stays. `extra`: the optional dependencies that would read it.
    """

    source: str
    reason: str
    rest_unread: bool = False
    unread: bool = False
    empty: bool = False
    extra: str = ""


class SearchEngine(Protocol):
    """A web search engine. Called from several threads at once; it returns addresses and reads no page."""

    @property
    def name(self) -> str:
        """Shown in answers, steps and traces, with the address of the server where the user chose one."""

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """At most `limit` results, best first; empty only if the engine found nothing. Raises FetchError."""


class Pages(Protocol):
    """Fetches web pages and turns them into documents. It may read public http(s) addresses only."""

    def read(self, results: Sequence[SearchResult]) -> Iterable[Document | Skipped]:
        """One item for each result, in their order: the page as clean text, or a Skipped that says why not.

        `Document.source` is the address and `Document.retrieved` the day (ISO) on which it was read.
        """
