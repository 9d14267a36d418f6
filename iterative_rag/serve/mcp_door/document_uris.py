"""The URIs of documents as resources: `iterative-rag://corpora/CORPUS/documents/ID`.

Both parts are looked up in the database and never become part of a path.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

TEMPLATE = "iterative-rag://corpora/{corpus}/documents/{document_id}"
_URI = re.compile(r"iterative-rag://corpora/(?P<corpus>[^/?#]{1,1500})/documents/(?P<document_id>[^/?#]{1,1500})")


def document_uri(corpus: str, document_id: str) -> str:
    return TEMPLATE.format(corpus=quote(corpus, safe=""), document_id=quote(document_id, safe=""))


def parsed_uri(uri: str) -> tuple[str, str] | None:
    """The corpus and the document id of a URI; None for any other."""
    match = _URI.fullmatch(uri)
    return (unquote(match["corpus"]), unquote(match["document_id"])) if match else None
