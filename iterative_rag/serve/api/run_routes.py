"""`/api/runs`: start a run, find it again after a reload, follow its events, stop it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import islice
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from iterative_rag.errors import UsageError
from iterative_rag.serve.api.asking import submitted
from iterative_rag.serve.api.event_stream import event_stream, last_event_id, server_sent
from iterative_rag.serve.api.responses import NotFound, whole_number
from iterative_rag.serve.runs.events import (
    Failed,
    Happening,
    RunEvent,
    Stopped,
    error_to_json,
    number_after,
    public_answer,
)
from iterative_rag.serve.runs.run import Run
from iterative_rag.serve.runs.run_index import RunEntry, past_error, past_state, run_entry
from iterative_rag.serve.services import services_of
from iterative_rag.storage.past_runs import PastRun, events_of, run_of_id, step_of
from iterative_rag.types import FinalStep

_MOST_LISTED = 200


async def start(request: Request) -> Response:
    """202 with the id of the run; its events are at `events`."""
    run = await submitted(request)
    return JSONResponse(live_json(run), 202, {"location": f"/api/runs/{run.id}"})


async def listed(request: Request) -> Response:
    """The runs, the newest first, also those that still go on; with `q` those with its words in question or answer."""
    services = services_of(request)
    limit = whole_number(request, "limit", 50, _MOST_LISTED)
    words = request.query_params.get("q", "")
    found = await asyncio.to_thread(
        lambda: [entry_json(entry) for entry in islice(services.history.runs(services.pool.corpora(), words), limit)]
    )
    known = {one["id"]: one for one in found}
    for run in services.runs.all():
        if not run.over and (not words or words.casefold() in run.request.question.casefold()):
            known[run.id] = live_json(run)
    return JSONResponse({"runs": sorted(known.values(), key=lambda one: str(one["id"]), reverse=True)[:limit]})


async def one(request: Request) -> Response:
    """One run: its state, and its answer once it has one."""
    found = await _found(request)
    if isinstance(found, Run):
        found.touch()
        return JSONResponse(live_json(found, whole=True))
    return JSONResponse(await asyncio.to_thread(past_json, found))


async def events(request: Request) -> Response:
    """The events of a run after Last-Event-ID; 204, which ends a browser's attempts, where there will be no more."""
    found, after = await _found(request), last_event_id(request)
    if isinstance(found, Run):
        if found.over and after >= found.last_number:
            return Response(status_code=204)
        return event_stream(found, after)
    kept = [event for event in await asyncio.to_thread(_kept_events, found) if event.number > after]
    if not kept:
        return Response(status_code=204)

    async def replayed() -> AsyncIterator[ServerSentEvent]:
        for event in kept:
            yield server_sent(event)

    return EventSourceResponse(replayed(), sep="\n", headers={"x-run-id": found.run_id})


async def stop(request: Request) -> Response:
    """Stop a run, or take it out of the queue."""
    services = services_of(request)
    found = await _found(request)
    if not isinstance(found, Run):
        raise UsageError("This run is over.")
    services.runs.stop(found)
    return JSONResponse(live_json(found), 202)


async def _found(request: Request) -> Run | PastRun:
    """The run of the path. Raises NotFound."""
    run_id = request.path_params["id"]
    if run := services_of(request).runs.get(run_id):
        return run
    try:
        past = await asyncio.to_thread(run_of_id, run_id)
    except UsageError as error:
        raise NotFound("There is no such run.") from error
    # The command line also takes the beginning of an id.
    if past.run_id != run_id or not services_of(request).pool.serves(past):
        raise NotFound("There is no such run.")
    return past


def _kept_events(run: PastRun) -> list[RunEvent]:
    """The steps of a run of the past, and its end, with the numbers that they had while it went on."""
    told: list[Happening] = [step for event in events_of(run) if (step := step_of(event)) is not None]
    match past_state(run.status):
        case "failed":
            told.append(Failed(past_error(run)))
        case "stopped":
            told.append(Stopped())
    at, number, kept = run.at.timestamp() if run.at else 0.0, 0, []
    for happening in told:
        number = number_after(number, happening)
        kept.append(RunEvent(number, happening, at))
    return kept


def live_json(run: Run, *, whole: bool = False) -> dict[str, Any]:
    """A run of this server; `whole`: with its answer."""
    told: dict[str, Any] = {
        "id": run.id,
        "state": str(run.state),
        "question": run.request.question,
        "corpus": run.request.corpus,
        "backend": run.request.backend,
        "strategy": run.request.strategy,
        "created": run.created,
        "last_event": run.last_number,
        "events": f"/api/runs/{run.id}/events",
        "short_answer": run.answer.short_answer if run.answer else "",
        "status": str(run.answer.status) if run.answer else "",
    }
    if whole:
        told["answer"] = public_answer(run.answer) if run.answer else None
        told["error"] = error_to_json(run.error) if run.error else None
    return told


def entry_json(entry: RunEntry) -> dict[str, Any]:
    """A run of the past, in a list."""
    return {
        "id": entry.run_id,
        "state": past_state(entry.status),
        "question": entry.question,
        "corpus": entry.corpus,
        "backend": entry.backend,
        "strategy": entry.strategy,
        "created": entry.at.timestamp() if entry.at else 0.0,
        "events": f"/api/runs/{entry.run_id}/events",
        "short_answer": entry.short_answer,
        "status": entry.status,
    }


def past_json(run: PastRun) -> dict[str, Any]:
    """A run that its trace tells of, with its answer."""
    told, step = entry_json(run_entry(run)), step_of(run.last)
    told["answer"] = public_answer(step.answer) if isinstance(step, FinalStep) else None
    told["error"] = error_to_json(past_error(run)) if told["state"] == "failed" else None
    return told
