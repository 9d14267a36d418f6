"""The documents of the corpora as resources: a list in pages, and each by its URI."""

from __future__ import annotations

import mcp_types as protocol

from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.serve.mcp_door.document_uris import TEMPLATE, document_uri, parsed_uri
from iterative_rag.serve.rag_pool import RagPool

PAGE = 200
_TYPE = "text/markdown"


class DocumentResources:
    """Called from several threads at once."""

    def __init__(self, pool: RagPool) -> None:
        self._pool = pool

    def template(self) -> protocol.ResourceTemplate:
        return protocol.ResourceTemplate(
            name="document",
            title="A document of a corpus",
            uri_template=TEMPLATE,
            description="The whole text of a document. The tools and resources/list give the ids.",
            mime_type=_TYPE,
        )

    def page(self, cursor: str | None) -> protocol.ListResourcesResult:
        """Documents of the default corpus by title, from the offset that a page before has given. Raises UsageError."""
        corpus = self._corpus("")
        start = _offset(cursor)
        entries = corpus.catalogue()
        if start > len(entries):
            raise _wrong_cursor()
        resources = [
            protocol.Resource(
                uri=document_uri(corpus.name, entry.id), name=entry.title, title=entry.title, mime_type=_TYPE
            )
            for entry in entries[start : start + PAGE]
        ]
        following = str(start + PAGE) if start + PAGE < len(entries) else None
        return protocol.ListResourcesResult(resources=resources, next_cursor=following)

    def read(self, uri: str) -> protocol.ReadResourceResult:
        """Raises CorpusError, CorpusNotFound."""
        named = parsed_uri(uri)
        if named is None:
            raise CorpusError(
                f"There is no resource {uri!r:.100}.", hint="The tools and resources/list give the URIs of documents."
            )
        name, document_id = named
        document = self._corpus(name).document(document_id)
        text = protocol.TextResourceContents(uri=uri, mime_type=_TYPE, text=document.text)
        return protocol.ReadResourceResult(contents=[text])

    def _corpus(self, name: str) -> IndexedCorpus:
        corpus = self._pool.corpus(name)
        assert isinstance(corpus, IndexedCorpus)
        return corpus


def _offset(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > 12:
        raise _wrong_cursor()
    return int(cursor)


def _wrong_cursor() -> UsageError:
    return UsageError("The cursor is none that this list has given.", hint="Begin without one.")
