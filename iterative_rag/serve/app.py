"""Builds the application: the doors, and the guard before them; `/api/...` in JSON and server-sent events."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.resources import files

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from iterative_rag import __version__
from iterative_rag.errors import IterativeRAGError
from iterative_rag.serve.api import documents, runs
from iterative_rag.serve.api.responses import on_error, on_unexpected
from iterative_rag.serve.guard import Guard, ServerToken
from iterative_rag.serve.mcp_door.mcp_server import mcp_door
from iterative_rag.serve.openai_door.openai_routes import openai_door
from iterative_rag.serve.page.door import login_door, page_door, page_or_json
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.serve_options import ServeOptions
from iterative_rag.serve.services import Door, MakeDoor, Services

Endpoint = Callable[[Request], Awaitable[Response]]


def http_door(services: Services) -> Door:
    """A container's health check has no token."""

    def get(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["GET"])

    def post(path: str, endpoint: Endpoint) -> Route:
        return Route(path, endpoint, methods=["POST"])

    return Door(
        routes=[
            post("/api/ask", runs.ask),
            get("/api/search", documents.search),
            get("/api/corpora", documents.corpora),
            get("/api/documents", documents.titles),
            get("/api/documents/{id:path}", documents.document),
            post("/api/runs", runs.start),
            get("/api/runs", runs.listed),
            get("/api/runs/{id}", runs.one),
            get("/api/runs/{id}/events", runs.events),
            post("/api/runs/{id}/stop", runs.stop),
            get("/api/openapi.json", _packaged("iterative_rag.serve.api", "openapi.json")),
            get("/api/events.schema.json", _packaged("iterative_rag.serve.runs", "events.schema.json")),
            get("/healthz", _health),
        ],
        open_paths=["/healthz"],
    )


async def _health(request: Request) -> Response:
    """Whether the server answers."""
    return JSONResponse({"status": "ok", "version": __version__})


def _packaged(package: str, name: str) -> Endpoint:
    """A description that travels with the package."""

    async def told(request: Request) -> Response:
        return Response((files(package) / name).read_text(encoding="utf-8"), media_type="application/json")

    return told


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
