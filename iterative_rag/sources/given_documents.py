"""Documents that a Python program gives: our own, and those of LlamaIndex's readers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha1
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.protocols import GIVEN, Skipped
from iterative_rag.sources.metadata import metadata_of, scalars
from iterative_rag.text.document_labels import DocumentLabels, labels_of
from iterative_rag.types import Document


class GivenDocuments:
    """Implements protocols.DocumentSource. Raises UsageError for what is not a document.

    The id of a LlamaIndex document is kept where somebody chose it. Most readers draw a new one with each load, which
    would index everything again: such a document is known by its file, its address, or else its text.
    """

    root = GIVEN

    def __init__(self, documents: Sequence[object]) -> None:
        for item in documents:
            if not isinstance(item, Document) and not _is_llama_index_node(item):
                raise UsageError(
                    f"A {type(item).__name__} is not a document.",
                    hint="Give iterative_rag.types.Document, documents of a LlamaIndex reader, or paths of files.",
                )
        self._given = documents

    @property
    def total(self) -> int:
        return len(self._given)

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


def _is_llama_index_node(item: object) -> bool:
    return callable(getattr(item, "get_content", None)) and isinstance(getattr(item, "metadata", None), Mapping)


def _converted(node: Any) -> Document:
    text = str(node.get_content())
    labels = labels_of(node.metadata, text)
    document_id = _stable_id(str(getattr(node, "id_", "")), labels, text)
    metadata = metadata_of(scalars({str(key): value for key, value in node.metadata.items()}))
    return Document(
        document_id, labels.title or "untitled", text, labels.source or GIVEN, labels.url, metadata=metadata
    )


def _stable_id(given: str, labels: DocumentLabels, text: str) -> str:
    if given and not _is_random(given):
        return given
    origin = labels.source or labels.url
    return sha1((f"{origin}\n{labels.page}" if origin else text).encode("utf-8", "replace")).hexdigest()


def _is_random(given: str) -> bool:
    try:
        return uuid.UUID(given).version == 4
    except ValueError:
        return False
