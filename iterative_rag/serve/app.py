"""Builds the application: the doors, and the guard before them; `/api/...` in JSON and server-sent events. Runs it: the
address, the start message, and a clean stop."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Generator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import replace
from importlib.resources import files

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from iterative_rag import __version__
from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.serve.api import documents, runs
from iterative_rag.serve.api.responses import error_response, on_unexpected
from iterative_rag.serve.guard import Guard, ServerToken
from iterative_rag.serve.mcp_door.mcp_server import mcp_door
from iterative_rag.serve.openai_door.openai_routes import openai_door, protocol_error
from iterative_rag.serve.page.door import error_page, login_door, page_door, page_or_json
from iterative_rag.serve.rag_pool import RagPool
from iterative_rag.serve.runs.run_manager import RunManager
from iterative_rag.serve.serve_options import ServeOptions
from iterative_rag.serve.services import Door, MakeDoor, Services
from iterative_rag.settings import Settings

Endpoint = Callable[[Request], Awaitable[Response]]


def http_door(services: Services) -> Door:
    """A container's health check has no token."""
    return Door(
        routes=[
            Route("/api/ask", runs.ask, methods=["POST"]),
            Route("/api/search", documents.search),
            Route("/api/corpora", documents.corpora),
            Route("/api/documents", documents.titles),
            Route("/api/documents/{id:path}", documents.document),
            Route("/api/runs", runs.start, methods=["POST"]),
            Route("/api/runs", runs.listed),
            Route("/api/runs/{id}", runs.one),
            Route("/api/runs/{id}/events", runs.events),
            Route("/api/runs/{id}/stop", runs.stop, methods=["POST"]),
            Route("/api/openapi.json", _packaged("iterative_rag.serve.api", "openapi.json")),
            Route("/api/events.schema.json", _packaged("iterative_rag.serve.runs", "events.schema.json")),
            Route("/healthz", _health),
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
DOORS: tuple[MakeDoor, ...] = (http_door, login_door, mcp_door, openai_door, page_door)


def build_app(services: Services) -> Starlette:
    """The application over these services."""
    doors = [make(services) for make in DOORS]
    open_paths = [path for door in doors for path in door.open_paths]
    app = Starlette(
        routes=[route for door in doors for route in door.routes],
        middleware=[Middleware(Guard, options=services.options, token=services.token, open_paths=open_paths)],
        exception_handlers={IterativeRAGError: _on_error, HTTPException: page_or_json, Exception: on_unexpected},
        lifespan=_lifespan(doors),
    )
    app.state.services = services
    return app


async def _on_error(request: Request, error: Exception) -> Response:
    """An error of the package that a route raised, in the form of its door."""
    assert isinstance(error, IterativeRAGError)
    match request.url.path.split("/")[1]:
        case "v1":
            return protocol_error(error)
        case "api" | "mcp":
            return error_response(error)
    return error_page(request, error)


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


# Of the headers of a request; h11 would take 64 kB.
_HEADER_BYTES = 32_768
_CONNECTIONS = 512
_STOP_SECONDS = 3
# After which a thread that computes lets another one run. With Python's 5 ms, events waited for 0.1 s while many runs
# computed at once; the runs themselves are no slower.
SWITCH_SECONDS = 0.0005


def serve(settings: Settings, options: ServeOptions, say: Callable[[str], None]) -> None:
    """Serve until the process is told to stop. `say` prints a line for whoever started it.

    Raises UsageError where the address cannot be used or the options are not safe.
    """
    made = not options.token and not options.on_loopback
    if made:
        options = replace(options, token=secrets.token_urlsafe(32))
    options = options.checked()
    sys.setswitchinterval(SWITCH_SECONDS)
    listening = listen(options)
    options = replace(options, port=listening.getsockname()[1])
    services = make_services(RagPool(settings, served=options.corpora), options)
    services.pool.check()
    try:
        for line in _start_message(services, made=made):
            say(line)
        make_server(services).run([listening])
    finally:
        services.runs.close()
        services.pool.close()


def listen(options: ServeOptions) -> socket.socket:
    """A socket on the address of the options. Raises UsageError."""
    try:
        family, *_, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen()  # whoever reads the start message may connect at once
    except OSError as error:
        raise UsageError(
            f"The server cannot listen on {options.host}, port {options.port}: {error.strerror}.",
            hint="Choose another port: iterative-rag serve --port 0 takes a free one.",
        ) from error
    listening.set_inheritable(False)
    return listening


class RunServer(uvicorn.Server):
    """Ends the runs before the connections, so that every stream gets its last event. A signal ends it like a return,
    so that files are closed."""

    def __init__(self, config: uvicorn.Config, runs: RunManager) -> None:
        super().__init__(config)
        self._runs = runs

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.to_thread(self._runs.close)
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def make_server(services: Services) -> RunServer:
    """A server of all doors; it neither names itself nor believes what a proxy says of the client."""
    options = services.options
    return RunServer(
        uvicorn.Config(
            build_app(services),
            host=options.host,
            port=options.port,
            http=_protocol(options.head_seconds),
            ws="none",
            log_config=None,
            access_log=False,
            proxy_headers=False,
            server_header=False,
            h11_max_incomplete_event_size=_HEADER_BYTES,
            limit_concurrency=_CONNECTIONS,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=_STOP_SECONDS,
        ),
        services.runs,
    )


def _protocol(head_seconds: float) -> type[H11Protocol]:
    """HTTP/1.1 for connections on which the head of a request has to arrive in time; uvicorn would wait for ever."""

    class ImpatientProtocol(H11Protocol):
        _patience: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch_head()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch_head()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_watching()
            super().connection_lost(exc)

        def _watch_head(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._stop_watching()
            elif self._patience is None:
                self._patience = self.loop.call_later(head_seconds, self.transport.close)

        def _stop_watching(self) -> None:
            if self._patience is not None:
                self._patience.cancel()
                self._patience = None

    return ImpatientProtocol


def address_of(options: ServeOptions) -> str:
    """The address as a browser on this machine reaches it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(options.host, options.host)
    return f"http://{f'[{host}]' if ':' in host else host}:{options.port}"


def _start_message(services: Services, *, made: bool) -> list[str]:
    address, options = address_of(services.options), services.options
    lines = [f"Serving {', '.join(services.pool.corpora())} with {services.pool.backends[0]}", f"Open: {address}/"]
    if made:
        lines.append(f"Token: {options.token} (it is not shown again)")
    return [*lines, "Stop it with Ctrl-C."]
