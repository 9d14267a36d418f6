"""JSON in and out: bodies read, errors of the package as HTTP statuses."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from iterative_rag.errors import (
    CapReached,
    CorpusError,
    CorpusNotFound,
    IterativeRAGError,
    LLMError,
    NothingWithin,
    ServerBusy,
    UsageError,
)
from iterative_rag.serve.runs.events import error_to_json
from iterative_rag.serve.runs.run_request import M, checked
from iterative_rag.system.files import json_value

_log = logging.getLogger(__name__)


class NotFound(CorpusError):
    """What a path names does not exist."""


_STATUS: tuple[tuple[type[IterativeRAGError], int], ...] = (
    (NotFound, 404),
    (CorpusNotFound, 404),
    (NothingWithin, 404),
    (UsageError, 400),
    (ServerBusy, 429),
    (CapReached, 504),
    (LLMError, 502),
    (CorpusError, 503),
)


def status_of(error: IterativeRAGError) -> int:
    """The HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def error_response(error: IterativeRAGError, headers: Mapping[str, str] | None = None) -> Response:
    """An error of the package, as JSON. What is told of it names no path and no server; the log has all of it."""
    status = status_of(error)
    if status >= 500:
        _log.warning("%s: %s", type(error).__name__, error)
    wait = {"retry-after": "5"} if status == 429 else {}
    return JSONResponse({"error": error_to_json(error)}, status, {**(headers or {}), **wait})


async def on_unexpected(request: Request, error: Exception) -> Response:
    """For Starlette: whatever no lower layer has named. The client is told nothing of it."""
    return error_response(IterativeRAGError("An unexpected error.", hint="See the server's log."))


async def json_object(request: Request) -> dict[str, Any]:
    """The body. Raises UsageError for anything but a JSON object sent as such, which no form of a page can do."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise UsageError("The body must be JSON.", hint="Send it with Content-Type: application/json.")
    try:
        body = json_value(await request.body())
    except ValueError as error:
        raise UsageError("The body is not valid JSON.", hint='For example: {"question": "Who ...?"}') from error
    if not isinstance(body, dict):
        raise UsageError("The body is not a JSON object.", hint='For example: {"question": "Who ...?"}')
    return body


def query_of(request: Request, model: type[M]) -> M:
    """The arguments of the address; an empty one counts as none. Raises UsageError."""
    return checked(model, {name: value for name, value in request.query_params.items() if value})
