"""The documents of a corpus: the rows kept of each, and the view of one generation."""

from __future__ import annotations

import difflib
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from iterative_rag.errors import CorpusError
from iterative_rag.retrieval.analysers import ENGLISH
from iterative_rag.system.files import json_value
from iterative_rag.text.folding import readable
from iterative_rag.types import Document, Metadata
from iterative_rag.types.documents import as_field

# Increase it when tables or payloads change, or when the chunker or BM25 treats the same text differently.
SCHEMA_VERSION = 4
# The generation number of a view that shows everything committed, published or not: the view of a writer.
COMMITTED = 2**62


@dataclass(frozen=True, slots=True)
class Points:
    """The points of one version of a document: ordinals 0 to `passages` - 1."""

    document_id: str
    version: str
    passages: int


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A document without its text; `language` is the one that its words are read in, "" where English or not clear."""

    id: str
    title: str
    url: str | None
    source: str
    metadata: Metadata = ()
    language: str = ENGLISH


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a document as it is indexed: the hash of its content, and the language that BM25 reads its words in.
    Read in another language, its points have other ids: an update then replaces all of them."""

    content: str
    language: str = ENGLISH

    @property
    def name(self) -> str:
        """What its points are known by."""
        return f"{self.content}.{self.language}".rstrip(".")


@dataclass(frozen=True, slots=True)
class DocumentEntry:
    """A document to write, with the root under which it was found."""

    document: Document
    root: str
    version: Version
    passages: int

    @property
    def points(self) -> Points:
        return Points(self.document.id, self.version.name, self.passages)


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """Where an indexed document was found, the hash of its content, and its metadata."""

    root: str
    source: str
    content: str
    metadata: Metadata = ()


@dataclass(frozen=True, slots=True)
class Generation:
    """A published state of the corpus: readers see all of it or none of it. `number` counts from 1.

    `created` changes when the corpus is rebuilt, `updated` is ISO 8601. `strangers` are points in the vectors that
    belong to no document of this generation: those of documents that were still being written. `languages` are numbers
    of documents, ENGLISH left out.
    """

    number: int
    embedder: str
    dimensions: int
    chunk_chars: int
    chunk_overlap: int
    created: str
    updated: str
    documents: int
    passages: int
    strangers: tuple[Points, ...] = field(default=())
    languages: Mapping[str, int] = field(default_factory=dict)

    @property
    def read_in(self) -> tuple[str, ...]:
        """The languages that BM25 reads a query in."""
        foreign = sum(self.languages.values())
        return (*((ENGLISH,) if foreign < self.documents or not foreign else ()), *sorted(self.languages))


def without_variants(document: Document) -> Document:
    """The document as it is indexed: its text readable, and its pages where they begin in that."""
    text = readable(document.text)
    if text == document.text:
        return document
    bounds = zip((0, *document.pages), document.pages, strict=False)
    pages = tuple(accumulate(len(readable(document.text[start:end])) for start, end in bounds))
    return replace(document, text=text, title=readable(document.title), pages=pages)


def version_of(document: Document) -> str:
    """The content hash of a document as it is indexed."""
    document = without_variants(document)
    digest = hashlib.sha256(document.title.encode())
    digest.update(b"\0")
    digest.update(document.text.encode())
    if document.pages:
        digest.update(b"\0" + json.dumps(document.pages).encode())
    return digest.hexdigest()[:32]


def metadata_as_text(metadata: Metadata) -> str | None:
    """As it is stored; None where there is none."""
    return json.dumps(metadata, ensure_ascii=False) if metadata else None


def _metadata_of(text: str | None) -> Metadata:
    return tuple((str(key), str(value)) for key, value in json_value(text)) if text else ()


class DocumentView:
    """The documents of generation `number`, unaffected by later ones."""

    def __init__(self, rows: Callable[[str, tuple[object, ...]], list[Any]], number: int) -> None:
        self._rows = rows
        self.number = number
        self._valid = f"since <= {number:d} AND (until IS NULL OR until > {number:d})"

    def document(self, document_id: str) -> Document | None:
        rows = self._select("title, text, source, url, pages, metadata", "id = ?", (document_id,))
        for title, text, source, url, pages, metadata in rows:
            plain = zlib.decompress(text).decode()
            begins = tuple(json_value(pages)) if pages else ()
            return Document(document_id, title, plain, source, url, begins, metadata=_metadata_of(metadata))
        return None

    def versions(self, ids: Iterable[str]) -> dict[str, str]:
        """id -> version of the ids that exist."""
        return dict(self._of("id, version", ids))

    def sizes(self, ids: Iterable[str]) -> dict[str, tuple[str, str, int]]:
        """id -> (title, source, bytes of the stored text) of the ids that exist. Reads no text."""
        rows = self._of("id, title, source, length(text)", ids)
        return {document_id: (title, source, size) for document_id, title, source, size in rows}

    def same_text(self, document_id: str, other: str) -> bool:
        """Whether two documents hold the same text; their titles may differ."""
        return len({zlib.decompress(text) for (text,) in self._of("text", (document_id, other))}) == 1

    def titles(self) -> list[tuple[str, str]]:
        """(id, title) of all documents, by title."""
        return [(row[0], row[1]) for row in self._select("id, title", order="title, id")]

    def catalogue(self) -> list[CatalogueEntry]:
        """All documents without their texts, by title."""
        rows = self._select("id, title, url, source, metadata, language", order="title, id")
        return [
            CatalogueEntry(key, title, url, source, _metadata_of(held), language)
            for key, title, url, source, held, language in rows
        ]

    def points(self, ids: Iterable[str]) -> list[Points]:
        """The points of the documents that exist."""
        return [Points(*row) for row in self._of("id, version, passages", ids)]

    def digest(self) -> str:
        """A hash of all that is searched, independent of where and when it was indexed."""
        digest = hashlib.sha256()
        for (version,) in self._select("version", order="version"):
            digest.update(version.encode())
        return digest.hexdigest()[:32]

    def counts(self) -> tuple[int, int]:
        """The numbers of documents and passages."""
        documents, passages = self._select("count(*), coalesce(sum(passages), 0)")[0]
        return int(documents), int(passages)

    def languages(self) -> dict[str, int]:
        """The number of documents in each language, ENGLISH left out."""
        rows = self._select("language, count(*)", "language != ''", order="1", group="language")
        return {code: int(count) for code, count in rows}

    def known(self, document_id: str) -> KnownDocument | None:
        """Where and in which version a document is indexed; None if it is not."""
        for root, source, content, held in self._select("root, source, content, metadata", "id = ?", (document_id,)):
            return KnownDocument(root, source, content, _metadata_of(held))
        return None

    def ids_under(self, root: str) -> list[str]:
        return [row[0] for row in self._select("id", "root = ?", (root,))]

    def versions_by_root(self) -> dict[str, dict[str, str]]:
        """The content hash of every document, by the root that it was found under."""
        hashes: dict[str, dict[str, str]] = {}
        for root, document_id, content in self._select("root, id, content"):
            hashes.setdefault(root, {})[document_id] = content
        return hashes

    def _of(self, columns: str, ids: Iterable[str]) -> Iterator[tuple[Any, ...]]:
        for part in _parts(ids):
            yield from self._select(columns, f"id IN ({','.join('?' * len(part))})", tuple(part))

    def _select(
        self, columns: str, where: str = "1", values: tuple[object, ...] = (), *, group: str = "", order: str = ""
    ) -> list[tuple[Any, ...]]:
        ending = (f" GROUP BY {group}" if group else "") + (f" ORDER BY {order}" if order else "")
        return self._rows(f"SELECT {columns} FROM documents WHERE {where} AND {self._valid}{ending}", values)


def _parts(ids: Iterable[str], size: int = 500) -> Iterator[list[str]]:
    """The distinct ids in lists short enough for one SQL statement."""
    wanted = list(dict.fromkeys(ids))
    return (wanted[low : low + size] for low in range(0, len(wanted), size))


def no_document(corpus: str, document_id: str) -> CorpusError:
    message = f"The corpus {corpus!r} has no document {document_id!r}."
    return CorpusError(message, hint="It may have been removed a moment ago.")


def ids_of_title(corpus: str, title: str, titles: Sequence[tuple[str, str]]) -> list[str]:
    """The ids of that title, of (id, title): case, underscores and what nobody sees aside. Raises CorpusError, which
    names the nearest."""
    ids = [document_id for document_id, known in titles if _plain(known) == _plain(title)]
    if not ids:
        by_plain = {_plain(known): known for _, known in titles}
        near = difflib.get_close_matches(_plain(title), by_plain, n=3, cutoff=0.5)
        near += [plain for plain in by_plain if _plain(title) in plain and plain not in near][: 5 - len(near)]
        names = ", ".join(repr(by_plain[plain]) for plain in near)
        raise CorpusError(
            f"The corpus {corpus!r} has no document titled {title!r}.",
            hint=f"Did you mean {names}?" if names else "Search for it: iterative-rag search WORDS",
        )
    return ids


def _plain(title: str) -> str:
    return " ".join(as_field(title).replace("_", " ").split()).casefold()
