"""The documents of the corpora as resources: a list in pages, and each by its URI."""

from __future__ import annotations

import mcp_types as protocol

from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.serve.mcp_door.document_uris import TEMPLATE, document_uri, parsed_uri
from iterative_rag.serve.rag_pool import RagPool

PAGE = 200
# A cursor is this and the id of the last document of its page, in hexadecimal digits.
_AFTER, _LONGEST_CURSOR = "after-", 5000
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
        """Documents of the default corpus, those after the last one of the page that has given the cursor: a page stays
        right while documents come and go. Raises UsageError."""
        corpus = self._corpus("")
        entries = corpus.catalogue_page(_last_id(cursor), PAGE + 1)
        resources = [
            protocol.Resource(
                uri=document_uri(corpus.name, entry.id), name=entry.title, title=entry.title, mime_type=_TYPE
            )
            for entry in entries[:PAGE]
        ]
        following = f"{_AFTER}{entries[PAGE - 1].id.encode().hex()}" if len(entries) > PAGE else None
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


def _last_id(cursor: str | None) -> str:
    """The id in a cursor, "" for none."""
    if cursor is None:
        return ""
    try:
        if cursor.startswith(_AFTER) and len(cursor) <= _LONGEST_CURSOR:
            return bytes.fromhex(cursor.removeprefix(_AFTER)).decode()
    except ValueError:
        pass
    raise UsageError("The cursor is none that this list has given.", hint="Begin without one.")
