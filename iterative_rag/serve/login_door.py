"""`/login`: a browser gives the token once, in a form, and gets a cookie."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from iterative_rag.serve.guards.token import COOKIE, LOGIN, WrongTokens, client_of
from iterative_rag.serve.page.rendering import page
from iterative_rag.serve.services import Door, Services


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
