"""`/api/ask` and `/api/runs`: a question answered as events while it is worked on, or as one JSON object at the end; a
run found again after a reload, its events, its end. Every event has its number, so that a browser can go on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from itertools import islice

from pydantic import BaseModel, Field
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from iterative_rag.errors import UsageError
from iterative_rag.serve.api.responses import error_response, json_object, query_of
from iterative_rag.serve.guard import client_of
from iterative_rag.serve.runs.events import LAST_NUMBER, RunEvent, public_answer
from iterative_rag.serve.runs.run import Run
from iterative_rag.serve.runs.run_request import Text, checked_request
from iterative_rag.serve.runs.shown_run import past_run, runs_of_the_past, shown_live, shown_run
from iterative_rag.serve.services import services_of

_LOOKS_SECONDS = 0.5  # between two looks whether the client is still there
# Seconds between signs of life, and after which a client that takes nothing counts as gone.
PING_SECONDS = 15
SEND_SECONDS = 30.0
_DIGITS = 15


class ListQuery(BaseModel):
    q: Text = ""
    limit: int = Field(50, ge=0, le=200)


async def ask(request: Request) -> Response:
    """The answer; as typed steps while they happen where the client accepts `text/event-stream`."""
    run = await _submitted(request)
    headers = {"x-run-id": run.id}
    if "text/event-stream" in request.headers.get("accept", ""):
        return _event_stream(run)
    if not await over_or_gone(request, run):
        return Response(status_code=499)
    if run.answer:
        return JSONResponse(public_answer(run.answer), headers=headers)
    if run.error:
        return error_response(run.error, headers)
    told = {"code": "Stopped", "message": "The run was stopped.", "hint": "", "retryable": True}
    return JSONResponse({"error": told}, 503, headers)


async def _submitted(request: Request) -> Run:
    """The run that the body asks for. Raises UsageError, CorpusNotFound, ServerBusy."""
    services = services_of(request)
    body = await json_object(request)
    # Listing the corpora reads a folder.
    asked = await asyncio.to_thread(checked_request, body, services.pool)
    return services.runs.submit(asked, client=client_of(request.scope))


async def over_or_gone(request: Request, run: Run) -> bool:
    """Wait for the end of a run; False where the client went away before. Whoever closes the connection has no use for
    the answer, and cannot ask for it again: the run is stopped."""

    async def watch() -> None:
        async for _ in run.subscribe(run.last_number):
            pass

    done = asyncio.create_task(watch())
    try:
        while not (await asyncio.wait([done], timeout=_LOOKS_SECONDS))[0]:
            if await request.is_disconnected():
                services_of(request).runs.stop(run)
                return False
    finally:
        done.cancel()
    return True


async def start(request: Request) -> Response:
    """202 with the id of the run; its events are at `events`."""
    run = await _submitted(request)
    return JSONResponse(shown_live(run).as_json(), 202, {"location": f"/api/runs/{run.id}"})


def listed(request: Request) -> Response:
    """The runs, the newest first, also those that still go on; with `q` those with its words in question or answer."""
    services, given = services_of(request), query_of(request, ListQuery)
    known = {run.id: run for run in islice(runs_of_the_past(services.pool, given.q), given.limit)}
    for run in services.runs.all():
        if not run.over and given.q.casefold() in run.request.question.casefold():
            known[run.id] = shown_live(run)
    newest = sorted(known.values(), key=lambda run: run.id, reverse=True)[: given.limit]
    return JSONResponse({"runs": [run.as_json() for run in newest]})


def one(request: Request) -> Response:
    """One run: its state, and its answer once it has one."""
    return JSONResponse(shown_run(services_of(request), request.path_params["id"]).as_json(whole=True))


async def events(request: Request) -> Response:
    """The events of a run after Last-Event-ID; 204, which ends a browser's attempts, where there will be no more.
    Of a run that only its trace tells of it is the end alone."""
    services, run_id, after = services_of(request), request.path_params["id"], _last_event_id(request)
    if run := services.runs.get(run_id):
        if run.over and after >= run.last_number:
            return Response(status_code=204)
        return _event_stream(run, after)
    shown = await asyncio.to_thread(shown_run, services, run_id)
    if after >= LAST_NUMBER or not shown.happened:
        return Response(status_code=204)

    async def sent() -> AsyncIterator[ServerSentEvent]:
        yield _server_sent(RunEvent(LAST_NUMBER, shown.happened[-1], shown.at.timestamp() if shown.at else 0.0))

    return EventSourceResponse(sent(), sep="\n", headers={"x-run-id": run_id})


def stop(request: Request) -> Response:
    """Stop a run, or take it out of the queue."""
    services, run_id = services_of(request), request.path_params["id"]
    run = services.runs.get(run_id)
    if run is None:
        past_run(services, run_id)
        raise UsageError("This run is over.")
    services.runs.stop(run)
    return JSONResponse(shown_live(run).as_json(), 202)


def _last_event_id(request: Request) -> int:
    """The number of the last event that the client has, 0 for none. Raises UsageError."""
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not given.isascii() or not given.isdecimal() or len(given) > _DIGITS:
        raise UsageError("Last-Event-ID is the number of an event.")
    return int(given)


def _event_stream(run: Run, after: int = 0) -> EventSourceResponse:
    """The events of a run after that of this number."""

    async def sent() -> AsyncIterator[ServerSentEvent]:
        async for event in run.subscribe(after):
            yield _server_sent(event)

    return EventSourceResponse(
        sent(), ping=PING_SECONDS, sep="\n", send_timeout=SEND_SECONDS, headers={"x-run-id": run.id}
    )


def _server_sent(event: RunEvent) -> ServerSentEvent:
    data = json.dumps({**event.data(), "at": event.at}, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(data=data, event=event.name, id=str(event.number), sep="\n")
