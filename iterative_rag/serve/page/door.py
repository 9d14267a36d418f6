"""The page: ask, follow the hops, look at the proof, explore. It works without JavaScript, which only adds to it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from iterative_rag.errors import IterativeRAGError
from iterative_rag.serve.api.responses import on_http_error, status_of
from iterative_rag.serve.guard import COOKIE, LOGIN, WrongTokens, client_of
from iterative_rag.serve.page import asking, explore, proof_page
from iterative_rag.serve.page.rendering import page, static
from iterative_rag.serve.runs.public_text import public_message
from iterative_rag.serve.services import Door, Services
from iterative_rag.text.control_characters import visible

_SHOWN_PATH = 100  # characters

View = Callable[[Request], Awaitable[Response]]


def page_door(services: Services) -> Door:
    """The routes of the page. Its styles and scripts need no token: the form that asks for it uses them."""
    shown: list[tuple[str, View]] = [
        ("/", asking.form),
        ("/runs/{id}", proof_page.run),
        ("/runs/{id}/hops", proof_page.hops),
        ("/runs/{id}/quotes/{n:int}", proof_page.quote),
        ("/runs/{id}/proof.html", proof_page.proof_file),
        ("/runs/{id}/answer.json", proof_page.answer_json),
        ("/runs/{id}/answer.md", proof_page.answer_markdown),
        ("/corpora", explore.corpora),
        ("/corpora/{name}", explore.corpus),
        ("/corpora/{name}/documents/{id:path}", explore.document),
        ("/history", explore.history),
    ]
    posted: list[tuple[str, View]] = [
        ("/ask", asking.ask),
        ("/runs/{id}/stop", proof_page.stop),
        ("/runs/{id}/edit", asking.edit),
        ("/runs/{id}/follow-up", asking.follow_up),
        ("/runs/{id}/forget", explore.forget),
    ]
    return Door(
        routes=[
            Route("/static/{name}", static, methods=["GET"]),
            *(Route(path, told(view), methods=["GET"]) for path, view in shown),
            *(Route(path, told(view), methods=["POST"]) for path, view in posted),
        ],
        open_paths=["/static/page.css", "/static/theme.js"],
    )


async def page_or_json(request: Request, error: Exception) -> Response:
    """For Starlette: no such route, or not with that method; a page for a browser, JSON for a program."""
    if "text/html" not in request.headers.get("accept", "") or request.url.path.startswith(("/api/", "/v1/", "/mcp")):
        return await on_http_error(request, error)
    assert isinstance(error, HTTPException)
    title = "There is no such page" if error.status_code == 404 else "That did not work"
    message = f"{error.detail}: {visible(request.url.path[:_SHOWN_PATH])}"
    hint = "The links above lead to what there is."
    return page(request, "error.html", error.status_code, title=title, message=message, hint=hint)


def told(view: View) -> View:
    """The view, with its errors shown as a page."""

    @wraps(view)
    async def with_errors(request: Request) -> Response:
        try:
            return await view(request)
        except IterativeRAGError as error:
            status = status_of(error)
            message, hint = public_message(str(error)), public_message(error.hint)
            return page(request, "error.html", status, title="That did not work", message=message, hint=hint)

    return with_errors


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

    return Door(
        routes=[Route(LOGIN, form, methods=["GET"]), Route(LOGIN, sign_in, methods=["POST"])], open_paths=[LOGIN]
    )
