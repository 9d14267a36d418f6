"""Documents that a Python program gives: our own, and those of LlamaIndex's readers; with the title, address and source
of a text, guessed from what other programs have noted about it."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha1
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

from iterative_rag.errors import UsageError
from iterative_rag.protocols import GIVEN, Skipped
from iterative_rag.remote.hosts import host_of
from iterative_rag.sources.metadata import metadata_of, scalars
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field


class GivenDocuments:
    """Implements protocols.DocumentSource. Raises UsageError for what is not a document.

    The id of a LlamaIndex document is kept where somebody chose it. Most readers draw a new one with each load, which
    would index everything again: such a document is known by its file, its address, or else its text.
    """

    root = GIVEN

    def __init__(self, documents: Sequence[object]) -> None:
        for item in documents:
            node = callable(getattr(item, "get_content", None)) and isinstance(getattr(item, "metadata", None), Mapping)
            if not node and not isinstance(item, Document):
                raise UsageError(
                    f"A {type(item).__name__} is not a document.",
                    hint="Give iterative_rag.types.Document, documents of a LlamaIndex reader, or paths of files.",
                )
        self._given, self.total = documents, len(documents)

    def documents(self) -> Iterator[Document | Skipped]:
        taken: dict[str, int] = {}
        for item in self._given:
            document = _named(item if isinstance(item, Document) else _converted(item))
            if not document.text.strip():
                yield Skipped(document.source or document.title, "It holds no text.", empty=True)
                continue
            before = taken.get(document.id, 0)
            taken[document.id] = before + 1
            if before and isinstance(item, Document) and item.id:
                yield Skipped(document.source or document.title, f"Another document has the id {document.id!r} too.")
                continue
            # A reader may make several documents of one file, a program several of one title.
            yield replace(document, id=f"{document.id}#{before + 1}") if before else document


def _named(document: Document) -> Document:
    """With its address or title for a source and an id that were not given; without halves of characters, which some
    readers of PDF files give and no database takes. Every offset stays."""
    source = _whole(document.source or document.url or document.title)
    told = tuple((_whole(key), _whole(value)) for key, value in document.metadata)
    title, text = _whole(document.title), _whole(document.text)
    return replace(document, id=_whole(document.id) or source, title=title, text=text, source=source, metadata=told)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _converted(node: Any) -> Document:
    text = str(node.get_content())
    labels = labels_of(node.metadata, text)
    document_id = _stable_id(str(getattr(node, "id_", "")), labels, text)
    metadata = metadata_of(scalars({str(key): value for key, value in node.metadata.items()}))
    title = labels.title or "untitled"
    return Document(document_id, title, text, labels.source or GIVEN, labels.url, metadata=metadata)


def _stable_id(given: str, labels: DocumentLabels, text: str) -> str:
    with suppress(ValueError):
        given = "" if uuid.UUID(given).version == 4 else given  # drawn anew with each load
    origin = labels.source or labels.url
    own = f"{origin}\n{labels.page}" if origin else text
    return given or sha1(own.encode("utf-8", "replace")).hexdigest()


_TITLES = ("title", "document_title", "page_title", "doc_title", "headline", "subject", "name")
_FILES = ("file_path", "file_name", "filename", "path")
_ADDRESSES = ("url", "source_url", "page_url", "link", "web_url", "source", "uri")
_PAGES = ("page_label", "page_number", "page")
# What tells where a text comes from, most exact first.
_SOURCES = ("file_path", "path", "source", "file_name", "filename")
# Longer ones are sentences.
_TITLE_CHARS = 120
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")
# Where the subject of an article's first sentence ends.
_SUBJECT_END = re.compile(r"\s+\(|,|\s+(?:is|was|are|were)\s|[.:;!?](?:\s|$)|\n")


@dataclass(frozen=True, slots=True)
class DocumentLabels:
    """`source` is "" where nothing tells it, `url` None where no web address is noted; `page` is that of a file."""

    title: str
    source: str
    url: str | None
    page: str


def labels_of(metadata: Mapping[str, Any], text: str, *, title_key: str = "", url_key: str = "") -> DocumentLabels:
    """The labels of a text with these notes; the keys that the caller names come before those that are usual."""
    lowered = {str(key).lower(): value for key, value in metadata.items()}
    page = _first(lowered, _PAGES)
    links = (lowered.get(key) for key in ((url_key.lower(), *_ADDRESSES) if url_key else _ADDRESSES))
    url = next((link for link in map(str, links) if link.startswith(("http://", "https://")) and host_of(link)), None)
    title = _first(lowered, (title_key.lower(), *_TITLES) if title_key else _TITLES)
    if not title:
        title = PurePath(_first(lowered, _FILES)).stem.replace("_", " ")
        title = f"{title}, page {page}" if title and page else title
    if not title and url:
        title = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]).replace("_", " ")
    return DocumentLabels(_line(title) or _beginning(text), _first(lowered, _SOURCES) or url or "", url, page)


def _first(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    values = (metadata.get(key) for key in keys)
    return next((str(value).strip() for value in values if isinstance(value, str | int) and str(value).strip()), "")


def _beginning(text: str) -> str:
    """The first heading, or the subject of the first sentence ("Berlin (...) is the capital" -> "Berlin")."""
    start = text.lstrip()[: 2 * _TITLE_CHARS]
    heading = _HEADING.match(start)
    return _line(heading[1] if heading else _SUBJECT_END.split(start, maxsplit=1)[0])


def _line(text: str) -> str:
    return " ".join(as_field(text).split())[:_TITLE_CHARS].strip()
