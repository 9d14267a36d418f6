"""The documents of the corpora as resources: a list in pages, and each by its URI,
`iterative-rag://corpora/CORPUS/documents/ID`. Both parts are looked up in the database and never become a path."""

from __future__ import annotations

import re
from typing import cast
from urllib.parse import quote, unquote

import mcp_types as protocol

from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.serve.rag_pool import RagPool

PAGE = 200
TEMPLATE = protocol.ResourceTemplate(
    name="document",
    title="A document of a corpus",
    uri_template="iterative-rag://corpora/{corpus}/documents/{document_id}",
    description="The whole text of a document. The tools and resources/list give the ids.",
    mime_type="text/markdown",
)
_URI = re.compile(r"iterative-rag://corpora/([^/?#]{1,1500})/documents/([^/?#]{1,1500})")
# A cursor is this and the id of the last document of its page, in hexadecimal digits.
_AFTER, _LONGEST_CURSOR = "after-", 5000


def document_uri(corpus: str, document_id: str) -> str:
    return TEMPLATE.uri_template.format(corpus=quote(corpus, safe=""), document_id=quote(document_id, safe=""))


def documents_page(pool: RagPool, cursor: str | None) -> protocol.ListResourcesResult:
    """Documents of the default corpus, those after the last one of the page that has given the cursor: a page stays
    right while documents come and go. Raises UsageError."""
    corpus = cast(IndexedCorpus, pool.corpus(""))
    entries = corpus.catalogue_page(_last_id(cursor), PAGE + 1)
    resources = [
        protocol.Resource(
            uri=document_uri(corpus.name, entry.id), name=entry.title, title=entry.title, mime_type=TEMPLATE.mime_type
        )
        for entry in entries[:PAGE]
    ]
    following = f"{_AFTER}{entries[PAGE - 1].id.encode().hex()}" if len(entries) > PAGE else None
    return protocol.ListResourcesResult(resources=resources, next_cursor=following)


def document_at(pool: RagPool, uri: str) -> protocol.ReadResourceResult:
    """Raises CorpusError, CorpusNotFound."""
    named = _URI.fullmatch(uri)
    if named is None:
        raise CorpusError(
            f"There is no resource {uri!r:.100}.", hint="The tools and resources/list give the URIs of documents."
        )
    text = pool.corpus(unquote(named[1])).document(unquote(named[2])).text
    contents = protocol.TextResourceContents(uri=uri, mime_type=TEMPLATE.mime_type, text=text)
    return protocol.ReadResourceResult(contents=[contents])


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
