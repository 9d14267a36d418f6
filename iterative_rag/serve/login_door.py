"""`/login`: a browser gives the token once, in a form or by the link that the server shows at its start, and gets a
cookie."""

from __future__ import annotations

from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from iterative_rag.serve.guards.token import COOKIE, LOGIN, WrongTokens, client_of
from iterative_rag.serve.services import Door, Services

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sign in - iterative_rag</title>
<link rel="stylesheet" href="/static/page.css">
<script src="/static/theme.js"></script>
</head>
<body><main class="narrow">
<h1>Sign in</h1>
<form method="post" action="/login">
<p><label>Token <input type="password" name="token" autocomplete="current-password" required autofocus></label></p>
<p role="alert">{wrong}</p>
<p><button>Sign in</button></p>
</form>
<p>The command that started the server has shown the token, unless it was given in ITERATIVE_RAG_TOKEN.</p>
</main></body>
</html>
"""


def login_door(services: Services) -> Door:
    """The form, and the link that signs one browser in. Where no token is needed there is nothing to sign in to."""
    token, wrong = services.token, WrongTokens()

    def signed_in() -> Response:
        response = RedirectResponse("/", 303)
        secure = services.options.behind_tls
        response.set_cookie(COOKIE, token.cookie, httponly=True, samesite="strict", path="/", secure=secure)
        return response

    async def form(request: Request) -> Response:
        if not token.needed:
            return RedirectResponse("/", 303)
        code = request.query_params.get("code", "")
        if code and token.redeem(code):
            return signed_in()
        told = "This link has been used; type the token." if code else ""
        return HTMLResponse(_PAGE.format(wrong=told), 401 if code else 200)

    async def sign_in(request: Request) -> Response:
        client = client_of(request.scope)
        if wrong.too_many(client):
            return HTMLResponse(_PAGE.format(wrong="Too many wrong tokens: wait a minute."), 429, {"retry-after": "60"})
        given = parse_qs((await request.body()).decode("utf-8", "replace")).get("token", [""])
        if token.matches(given[0].strip()):
            return signed_in()
        wrong.note(client)
        return HTMLResponse(_PAGE.format(wrong="That is not the token."), 401)

    return Door(
        routes=[Route(LOGIN, form, methods=["GET"]), Route(LOGIN, sign_in, methods=["POST"])], open_paths=[LOGIN]
    )
