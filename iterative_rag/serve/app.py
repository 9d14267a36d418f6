"""Builds the application: the doors, and the guard before them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from iterative_rag.errors import IterativeRAGError
from iterative_rag.serve.api.door import http_door
from iterative_rag.serve.api.responses import on_error, on_unexpected
from iterative_rag.serve.guards.guard import Guard
from iterative_rag.serve.guards.token import ServerToken
from iterative_rag.serve.login_door import login_door
from iterative_rag.serve.mcp_door.mcp_server import mcp_door
from iterative_rag.serve.openai_door.openai_routes import openai_door
from iterative_rag.serve.page.door import page_door, page_or_json
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.serve_options import ServeOptions
from iterative_rag.serve.services import Door, MakeDoor, Services

# One line for each way in.
DOORS: tuple[MakeDoor, ...] = (
    http_door,
    login_door,
    mcp_door,
    openai_door,
    page_door,
)


def build_app(services: Services) -> Starlette:
    """The application over these services."""
    doors = [make(services) for make in DOORS]
    open_paths = [path for door in doors for path in door.open_paths]
    app = Starlette(
        routes=[route for door in doors for route in door.routes],
        middleware=[Middleware(Guard, options=services.options, token=services.token, open_paths=open_paths)],
        exception_handlers={
            IterativeRAGError: on_error,
            HTTPException: page_or_json,
            Exception: on_unexpected,
        },
        lifespan=_lifespan(doors),
    )
    app.state.services = services
    return app


def make_services(pool: RagPool, options: ServeOptions) -> Services:
    """What the doors share."""
    return Services(options, pool, RunManager(pool, options), ServerToken(options.token))


def _lifespan(doors: list[Door]) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as entered:
            for door in doors:
                if door.lifespan:
                    await entered.enter_async_context(door.lifespan())
            yield

    return lifespan
