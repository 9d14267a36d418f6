"""A request that a guard turns away."""

from __future__ import annotations

from collections.abc import Mapping

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send


async def refuse(
    scope: Scope,
    receive: Receive,
    send: Send,
    status: int,
    code: str,
    message: str,
    *,
    hint: str = "",
    headers: Mapping[str, str] | None = None,
) -> None:
    """Answer with an error in the form of the HTTP door, and close the connection: its body may not have been read."""
    error = {"code": code, "message": message, "hint": hint, "retryable": status in (408, 429, 503)}
    response = JSONResponse({"error": error}, status, {"connection": "close", **(headers or {})})
    await response(scope, receive, send)
