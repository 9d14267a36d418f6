"""`POST /api/ask`: a question, answered as events while it is worked on, or as one JSON object at the end."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from iterative_rag.serve.api.event_stream import event_stream
from iterative_rag.serve.api.responses import error_response, json_object
from iterative_rag.serve.guards.client_limits import client_of
from iterative_rag.serve.runs.events import public_answer
from iterative_rag.serve.runs.run import Run
from iterative_rag.serve.runs.run_request import checked_request
from iterative_rag.serve.services import Services, services_of

_LOOKS_SECONDS = 0.5  # between two looks whether the client is still there


async def ask(request: Request) -> Response:
    """The answer; as typed steps while they happen where the client accepts `text/event-stream`."""
    run = await submitted(request)
    if "text/event-stream" in request.headers.get("accept", ""):
        return event_stream(run)
    return await _whole(request, run)


async def submitted(request: Request) -> Run:
    """The run that the body asks for. Raises UsageError, CorpusNotFound, ServerBusy."""
    services: Services = services_of(request)
    body = await json_object(request)
    # Listing the corpora reads a folder.
    asked = await asyncio.to_thread(checked_request, body, services.pool)
    return services.runs.submit(asked, client=client_of(request.scope))


async def _whole(request: Request, run: Run) -> Response:
    if not await over_or_gone(request, run):
        return Response(status_code=499)
    headers = {"x-run-id": run.id}
    if run.answer:
        return JSONResponse(public_answer(run.answer), headers=headers)
    if run.error:
        return error_response(run.error, headers)
    told = {"code": "Stopped", "message": "The run was stopped.", "hint": "", "retryable": True}
    return JSONResponse({"error": told}, 503, headers)


async def over_or_gone(request: Request, run: Run) -> bool:
    """Wait for the end of a run; False where the client went away before. Whoever closes the connection has no use for
    the answer, and cannot ask for it again: the run is stopped."""
    done = asyncio.create_task(_watch(run))
    try:
        while not (await asyncio.wait([done], timeout=_LOOKS_SECONDS))[0]:
            if await request.is_disconnected():
                services_of(request).runs.stop(run)
                return False
    finally:
        done.cancel()
    return True


async def _watch(run: Run) -> None:
    async for _ in run.subscribe(run.last_number):
        pass
