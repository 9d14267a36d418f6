"""`/api/corpora`, `/api/search` and `/api/documents`: what can be looked at without any model."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from iterative_rag.app.factory import corpora as stored_corpora
from iterative_rag.errors import CorpusError, CorpusNotFound, UsageError
from iterative_rag.index.filters import search_filtered
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.serve.api.responses import NotFound, whole_number
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.public_text import public_source
from iterative_rag.serve.runs.run_request import WITHIN, checked_within
from iterative_rag.serve.services import services_of
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import Document, Within

_MOST_HITS = 100
_MOST_TITLES = 1000
_LONGEST_QUERY = 2000


async def corpora(request: Request) -> Response:
    """The corpora that can be asked, the default first, and the backends and limits."""
    services = services_of(request)
    pool = services.pool
    found = await asyncio.to_thread(lambda: [_described(name) for name in pool.corpora()])
    return JSONResponse({"corpora": found, "backends": list(pool.backends), "read_only": services.options.read_only})


async def search(request: Request) -> Response:
    """`q` in a corpus: passages with scores and ranks; `title`, `source`, `section`, `language`, `since` and
    `where` (KEY=VALUE, repeatable) narrow it down."""
    given = {name: without_controls(value) for name, value in request.query_params.items()}
    query, limit = given.get("q", "").strip(), whole_number(request, "limit", 10, _MOST_HITS)
    if not query or any(len(value) > _LONGEST_QUERY for value in given.values()):
        raise UsageError(f"q is what to search for, of at most {_LONGEST_QUERY:,} characters.")
    parts = {name: given[name] for name in WITHIN if name in given}
    wanted = checked_within(parts | {"where": request.query_params.getlist("where")})
    pool, name = services_of(request).pool, given.get("corpus", "")
    return JSONResponse(await asyncio.to_thread(_searched, pool, name, query, limit, wanted))


async def titles(request: Request) -> Response:
    """The documents whose title begins with `title`, or all of them, `limit` from `offset` on."""
    services, given = services_of(request), request.query_params
    limit = whole_number(request, "limit", 100, _MOST_TITLES)
    offset = whole_number(request, "offset", 0, 100_000_000)
    pool, beginning = services.pool, given.get("title", "")[:_LONGEST_QUERY]
    return JSONResponse(await asyncio.to_thread(_listed, pool, given.get("corpus", ""), beginning, offset, limit))


async def document(request: Request) -> Response:
    """One document with its text."""
    pool, corpus = services_of(request).pool, request.query_params.get("corpus", "")
    found = await asyncio.to_thread(document_of, pool, corpus, request.path_params["id"])
    return JSONResponse(_document_json(found))


def document_of(pool: RagPool, corpus: str, document_id: str) -> Document:
    """The document of an id. Raises NotFound."""
    opened = opened_corpus(pool, corpus)
    try:
        return opened.document(document_id)
    except CorpusError as error:
        raise NotFound("There is no such document.") from error


def opened_corpus(pool: RagPool, name: str) -> IndexedCorpus:
    """A corpus that is served, opened. Raises CorpusError."""
    corpus = pool.corpus(name)
    assert isinstance(corpus, IndexedCorpus), "only indexed corpora are served"
    return corpus


def _described(name: str) -> dict[str, Any]:
    try:
        info = stored_corpora().info(name)
    except CorpusNotFound:  # the starter corpus, before it is first asked
        return {"name": name, "documents": 0, "passages": 0, "state": "not indexed yet", "updated": ""}
    return {name: getattr(info, name) for name in ("name", "documents", "passages", "state", "updated")}


def _searched(pool: RagPool, name: str, query: str, limit: int, wanted: Within) -> dict[str, Any]:
    corpus = opened_corpus(pool, name)
    hits = [
        {**asdict(hit), "text": corpus.document(hit.document_id).text[hit.start : hit.end]}
        for hit in search_filtered(corpus, query, limit, pool.settings.within, wanted)
    ]
    return {"corpus": corpus.name, "query": query, "hits": hits}


def _listed(pool: RagPool, name: str, beginning: str, offset: int, limit: int) -> dict[str, Any]:
    corpus = opened_corpus(pool, name)
    start = beginning.casefold()
    entries = [entry for entry in corpus.catalogue() if entry.title.casefold().startswith(start)]
    shown = [{"id": entry.id, "title": entry.title, "url": entry.url} for entry in entries[offset : offset + limit]]
    return {"corpus": corpus.name, "documents": shown, "total": len(entries), "offset": offset}


def _document_json(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "title": document.title,
        "text": document.text,
        "source": public_source(document.source),
        "url": document.link,
        "pages": list(document.pages),
    }
