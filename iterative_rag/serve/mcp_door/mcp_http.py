"""`/mcp`: the same server by streamable HTTP, behind the guards of all doors."""

from __future__ import annotations

from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route

from iterative_rag.serve.guards.client_limits import client_of
from iterative_rag.serve.mcp_door.mcp_server import Context, mcp_server
from iterative_rag.serve.services import Door, Services

# Clients of older revisions have sessions; those of 2026-07-28 have none.
_MOST_SESSIONS = 200
_IDLE_SECONDS = 600.0


def mcp_door(services: Services) -> Door:
    """Host, Origin, token and size of a request were checked by the guards before it comes here."""
    manager = StreamableHTTPSessionManager(
        mcp_server(services.runs, client=_client),
        max_request_body_size=services.options.body_bytes,
        max_sessions=_MOST_SESSIONS,
        session_idle_timeout=_IDLE_SECONDS,
    )
    return Door(routes=[Route("/mcp", StreamableHTTPASGIApp(manager))], lifespan=manager.run)


def _client(context: Context) -> str:
    return client_of(context.request.scope) if isinstance(context.request, Request) else ""
