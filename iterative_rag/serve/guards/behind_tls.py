"""For a server that browsers reach over https, by a proxy that ends TLS and speaks plain HTTP to it."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send


class BehindTls:
    """Every request counts as one over https, so that links to this server are such. The option says so and no header:
    X-Forwarded-Proto could come from anybody."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app({**scope, "scheme": "https"} if scope["type"] == "http" else scope, receive, send)
