"""What the server shares with its doors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass

from starlette.requests import Request
from starlette.routing import BaseRoute

from iterative_rag.serve.guard import ServerToken
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.serve_options import ServeOptions


@dataclass(frozen=True, slots=True)
class Services:
    """The corpora and backends (`pool`), the runs over them, and how the server was started."""

    options: ServeOptions
    pool: RagPool
    runs: RunManager
    token: ServerToken


@dataclass(frozen=True, slots=True)
class Door:
    """What one way in adds to the server. `open_paths` need no token. `lifespan` is entered while the server runs."""

    routes: Sequence[BaseRoute]
    open_paths: Sequence[str] = ()
    lifespan: Callable[[], AbstractAsyncContextManager[object]] | None = None


MakeDoor = Callable[[Services], Door]


def services_of(request: Request) -> Services:
    """The services of the server that a request came to."""
    services: Services = request.app.state.services
    return services
