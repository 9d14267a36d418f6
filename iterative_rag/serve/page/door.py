"""The page: ask, follow the hops, look at the proof, explore (`/corpora`, their search and articles, and `/history`).
It works without JavaScript, which only adds to it."""

from __future__ import annotations

import asyncio
from itertools import islice
from urllib.parse import parse_qs

from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.serve.api.documents import LONGEST_QUERY, Offset, described, document_of, search_hits
from iterative_rag.serve.api.responses import query_of, status_of
from iterative_rag.serve.guard import COOKIE, LOGIN, WrongTokens, client_of
from iterative_rag.serve.page import asking, proof_page
from iterative_rag.serve.page.articles import article_view
from iterative_rag.serve.page.asking import changing_fields
from iterative_rag.serve.page.rendering import page, static
from iterative_rag.serve.runs.events import public_message
from iterative_rag.serve.runs.run_request import Text
from iterative_rag.serve.runs.shown_run import runs_of_the_past, shown_live, shown_run
from iterative_rag.serve.services import Door, Services, services_of
from iterative_rag.storage.past_runs import delete, run_of_id
from iterative_rag.text.control_characters import visible

_HITS, _TITLES, _RUNS = 12, 400, 30


class CorpusQuery(BaseModel):
    q: Text = ""
    title: Text = ""
    offset: Offset = 0


class DocumentQuery(BaseModel):
    start: int = Field(0, ge=0, le=1_000_000_000)
    end: int = Field(0, ge=0, le=1_000_000_000)
    part: int | None = Field(None, ge=0, le=1_000_000)


def corpora(request: Request) -> Response:
    """The corpora that can be asked."""
    pool = services_of(request).pool
    return page(request, "corpora.html", cards=[described(pool, name) for name in pool.corpora()])


def corpus(request: Request) -> Response:
    """A corpus: what a search in it finds, with scores, or its titles."""
    pool, name, given = services_of(request).pool, request.path_params["name"], query_of(request, CorpusQuery)
    query, beginning = given.q.strip()[:LONGEST_QUERY], given.title.strip()[:200]
    opened = pool.corpus(name)
    entries, total = opened.listing(beginning, given.offset, _TITLES)
    return page(
        request,
        "corpus.html",
        name=name,
        query=query,
        beginning=beginning,
        offset=given.offset,
        step=_TITLES,
        hits=search_hits(pool, opened, query, _HITS) if query else [],
        titles=[(entry.id, entry.title) for entry in entries],
        total=total,
    )


def document(request: Request) -> Response:
    """An article: its text with a passage marked."""
    services, name, given = services_of(request), request.path_params["name"], query_of(request, DocumentQuery)
    article = document_of(services.pool, name, request.path_params["id"])
    view = article_view(article, given.start, max(given.start, given.end), part=given.part or None)
    return page(request, "document.html", name=name, document=article, view=view)


def history(request: Request) -> Response:
    """Earlier questions, with the words of `q` in question or answer."""
    services, given = services_of(request), query_of(request, CorpusQuery)
    words = given.q.strip()[:LONGEST_QUERY]
    runs = list(islice(runs_of_the_past(services.pool, words), given.offset, given.offset + _RUNS + 1))
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


_SHOWN_PATH = 100  # characters


def page_door(services: Services) -> Door:
    """The routes of the page. Its styles and scripts need no token: the form that asks for it uses them."""
    return Door(
        routes=[
            Route("/static/{name}", static),
            Route("/", asking.form),
            Route("/runs/{id}", proof_page.run),
            Route("/runs/{id}/hops", proof_page.hops),
            Route("/runs/{id}/quotes/{n:int}", proof_page.quote),
            Route("/runs/{id}/proof.html", proof_page.proof_file),
            Route("/runs/{id}/answer.json", proof_page.answer_json),
            Route("/runs/{id}/answer.md", proof_page.answer_markdown),
            Route("/corpora", corpora),
            Route("/corpora/{name}", corpus),
            Route("/corpora/{name}/documents/{id:path}", document),
            Route("/history", history),
            Route("/ask", asking.ask, methods=["POST"]),
            Route("/runs/{id}/stop", proof_page.stop, methods=["POST"]),
            Route("/runs/{id}/edit", asking.edit, methods=["POST"]),
            Route("/runs/{id}/follow-up", asking.follow_up, methods=["POST"]),
            Route("/runs/{id}/forget", forget, methods=["POST"]),
        ],
        open_paths=["/static/page.css", "/static/theme.js"],
    )


async def page_or_json(request: Request, error: Exception) -> Response:
    """For Starlette: no such route, or not with that method; a page for a browser, JSON for a program."""
    assert isinstance(error, HTTPException)
    if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith(("/api/", "/v1/", "/mcp")):
        told = {"code": "Http", "message": f"{error.detail}.", "hint": "", "retryable": False}
        return JSONResponse({"error": told}, error.status_code, error.headers)
    title = "There is no such page" if error.status_code == 404 else "That did not work"
    message = f"{error.detail}: {visible(request.url.path[:_SHOWN_PATH])}"
    hint = "The links above lead to what there is."
    return page(request, "error.html", error.status_code, title=title, message=message, hint=hint)


def error_page(request: Request, error: IterativeRAGError) -> Response:
    message, hint = public_message(str(error)), public_message(error.hint)
    return page(request, "error.html", status_of(error), title="That did not work", message=message, hint=hint)


def login_door(services: Services) -> Door:
    """The form. Where no token is needed there is nothing to sign in to."""
    token, wrong = services.token, WrongTokens()

    async def form(request: Request) -> Response:
        return page(request, "login.html", wrong="") if token.needed else RedirectResponse("/", 303)

    async def sign_in(request: Request) -> Response:
        client = client_of(request.scope)
        if wrong.too_many(client):
            return page(request, "login.html", 429, wrong="Too many wrong tokens: wait a minute.")
        given = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])
        if not token.matches(given[0].strip()):
            wrong.note(client)
            return page(request, "login.html", 401, wrong="That is not the token.")
        response = RedirectResponse("/", 303)
        secure = services.options.behind_tls
        response.set_cookie(COOKIE, token.cookie, httponly=True, samesite="strict", path="/", secure=secure)
        return response

    return Door(routes=[Route(LOGIN, form), Route(LOGIN, sign_in, methods=["POST"])], open_paths=[LOGIN])
