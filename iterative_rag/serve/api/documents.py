"""`/api/corpora`, `/api/search` and `/api/documents`: what can be looked at without any model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from pydantic import BaseModel, Field, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from iterative_rag.app.factory import corpora as stored_corpora
from iterative_rag.app.factory import for_one_run
from iterative_rag.errors import CorpusError, CorpusNotFound
from iterative_rag.protocols import Corpus
from iterative_rag.serve.api.responses import NotFound, query_of
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.events import public_source
from iterative_rag.serve.runs.run_request import WITHIN, Part, Text, checked
from iterative_rag.serve.services import services_of
from iterative_rag.types import Document, Hit, Within

LONGEST_QUERY = 2000
Offset = Annotated[int, Field(ge=0, le=100_000_000)]


class SearchQuery(BaseModel):
    q: Annotated[Text, StringConstraints(strip_whitespace=True, min_length=1, max_length=LONGEST_QUERY)]
    corpus: Text = ""
    limit: int = Field(10, ge=0, le=100)


class TitlesQuery(BaseModel):
    title: Text = ""
    corpus: Text = ""
    limit: int = Field(100, ge=0, le=1000)
    offset: Offset = 0


# Starlette calls these in a thread, since they are no coroutines: they read files.


def corpora(request: Request) -> Response:
    """The corpora that can be asked, the default first, and the backends and limits."""
    services = services_of(request)
    pool = services.pool
    entries = [described(pool, name) for name in pool.corpora()]
    return JSONResponse({"corpora": entries, "backends": list(pool.backends), "read_only": services.options.read_only})


def search(request: Request) -> Response:
    """`q` in a corpus: passages with scores and ranks; `title`, `source`, `language`, `since` and
    `where` (KEY=VALUE, repeatable) narrow it down."""
    given, params = query_of(request, SearchQuery), request.query_params
    part = {name: params[name] for name in WITHIN if name in params} | {"where": params.getlist("where")}
    wanted, pool = checked(Part, part).within(), services_of(request).pool
    corpus = pool.corpus(given.corpus)
    hits = [{**asdict(hit), "text": text} for hit, text in search_hits(pool, corpus, given.q, given.limit, wanted)]
    return JSONResponse({"corpus": corpus.name, "query": given.q, "hits": hits})


def titles(request: Request) -> Response:
    """The documents whose title begins with `title`, or all of them, `limit` from `offset` on."""
    given = query_of(request, TitlesQuery)
    corpus = services_of(request).pool.corpus(given.corpus)
    entries, total = corpus.listing(given.title, given.offset, given.limit)
    listed = [{"id": entry.id, "title": entry.title, "url": entry.url} for entry in entries]
    return JSONResponse({"corpus": corpus.name, "documents": listed, "total": total, "offset": given.offset})


def document(request: Request) -> Response:
    """One document with its text."""
    pool, corpus = services_of(request).pool, request.query_params.get("corpus", "")
    article = document_of(pool, corpus, request.path_params["id"])
    told = {"id": article.id, "title": article.title, "text": article.text, "source": public_source(article.source)}
    return JSONResponse(told | {"url": article.link, "pages": list(article.pages)})


def document_of(pool: RagPool, corpus: str, document_id: str) -> Document:
    """The document of an id. Raises NotFound."""
    opened = pool.corpus(corpus)
    try:
        return opened.document(document_id)
    except CorpusError as error:
        raise NotFound("There is no such document.") from error


def search_hits(
    pool: RagPool, corpus: Corpus, query: str, limit: int, part: Within | None = None
) -> list[tuple[Hit, str]]:
    """The passages that a search finds, with their text."""
    parts = (pool.settings.within, part) if part else (pool.settings.within,)
    with for_one_run(corpus, parts) as searched:
        (hits,) = searched.search([query], limit)
        return [(hit, searched.document(hit.document_id).text[hit.start : hit.end]) for hit in hits]


def described(pool: RagPool, name: str) -> dict[str, Any]:
    """A corpus in a list: its counts, state and date."""
    try:
        info = stored_corpora(pool.settings.index).info(name)
    except CorpusNotFound:  # the starter corpus, before it is first asked
        return {"name": name, "documents": 0, "passages": 0, "state": "not indexed yet", "updated": ""}
    return {field: getattr(info, field) for field in ("name", "documents", "passages", "state", "updated")}
