"""`/corpora`, their search and articles, and `/history`."""

from __future__ import annotations

import asyncio
from itertools import islice
from typing import Any

from pydantic import BaseModel, Field
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from iterative_rag.errors import UsageError
from iterative_rag.serve.api.documents import LONGEST_QUERY, Offset, described, document_of, opened_corpus, search_hits
from iterative_rag.serve.api.responses import query_of
from iterative_rag.serve.page.articles import article_view
from iterative_rag.serve.page.asking import changing_fields
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.runs.run_request import Text
from iterative_rag.serve.runs.shown_run import runs_of_the_past, shown_live, shown_run
from iterative_rag.serve.services import services_of
from iterative_rag.storage.past_runs import delete, run_of_id

_HITS, _TITLES, _RUNS = 12, 400, 30


class CorpusQuery(BaseModel):
    q: Text = ""
    title: Text = ""
    offset: Offset = 0


class DocumentQuery(BaseModel):
    start: int = Field(0, ge=0, le=1_000_000_000)
    end: int = Field(0, ge=0, le=1_000_000_000)
    part: int | None = Field(None, ge=0, le=1_000_000)


async def corpora(request: Request) -> Response:
    """The corpora that can be asked."""
    pool = services_of(request).pool
    cards = await asyncio.to_thread(lambda: [described(pool, name) for name in pool.corpora()])
    return page(request, "corpora.html", cards=cards)


async def corpus(request: Request) -> Response:
    """A corpus: what a search in it finds, with scores, or its titles."""
    pool, name, given = services_of(request).pool, request.path_params["name"], query_of(request, CorpusQuery)
    query, beginning = given.q.strip()[:LONGEST_QUERY], given.title.strip()[:200]

    def looked_up() -> dict[str, Any]:
        opened = opened_corpus(pool, name)
        hits = search_hits(pool, opened, query, _HITS) if query else []
        entries, total = opened.listing(beginning, given.offset, _TITLES)
        return {"hits": hits, "titles": [(entry.id, entry.title) for entry in entries], "total": total}

    context = await asyncio.to_thread(looked_up)
    at = {"offset": given.offset, "step": _TITLES}
    return page(request, "corpus.html", name=name, query=query, beginning=beginning, **at, **context)


async def document(request: Request) -> Response:
    """An article: its text with a passage marked."""
    services, name, given = services_of(request), request.path_params["name"], query_of(request, DocumentQuery)

    def looked_up() -> dict[str, Any]:
        article = document_of(services.pool, name, request.path_params["id"])
        view = article_view(article, given.start, max(given.start, given.end), part=given.part or None)
        return {"document": article, "view": view}

    return page(request, "document.html", name=name, **await asyncio.to_thread(looked_up))


async def history(request: Request) -> Response:
    """Earlier questions, with the words of `q` in question or answer."""
    services, given = services_of(request), query_of(request, CorpusQuery)
    words = given.q.strip()[:LONGEST_QUERY]
    found = runs_of_the_past(services.pool, words)
    runs = await asyncio.to_thread(lambda: list(islice(found, given.offset, given.offset + _RUNS + 1)))
    live = [] if words or given.offset else [shown_live(run) for run in services.runs.all() if not run.over]
    return page(
        request,
        "history.html",
        words=words,
        runs=runs[:_RUNS],
        more=len(runs) > _RUNS,
        offset=given.offset,
        step=_RUNS,
        live=live,
    )


async def forget(request: Request) -> Response:
    """Delete the trace of a run."""
    await changing_fields(request)
    shown = await asyncio.to_thread(shown_run, services_of(request), request.path_params["id"])
    if shown.live:
        raise UsageError("This run goes on.", hint="Stop it first.")
    await asyncio.to_thread(lambda: delete([run_of_id(shown.id)]))
    return RedirectResponse("/history", 303)
