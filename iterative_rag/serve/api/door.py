"""The routes of the HTTP door: `/api/...` in JSON and server-sent events and `/healthz`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from iterative_rag import __version__
from iterative_rag.serve.api import documents, runs
from iterative_rag.serve.services import Door, Services

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
