"""A run as server-sent events, each with its number, so that a browser that lost the connection can go on."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request

from iterative_rag.errors import UsageError
from iterative_rag.serve.runs.events import RunEvent
from iterative_rag.serve.runs.run import Run

# Seconds between signs of life, and after which a client that takes nothing counts as gone.
PING_SECONDS = 15
SEND_SECONDS = 30.0
_DIGITS = 15


def last_event_id(request: Request) -> int:
    """The number of the last event that the client has, 0 for none. Raises UsageError."""
    given = request.headers.get("last-event-id") or request.query_params.get("after") or "0"
    if not given.isascii() or not given.isdecimal() or len(given) > _DIGITS:
        raise UsageError("Last-Event-ID is the number of an event.")
    return int(given)


def event_stream(run: Run, after: int = 0) -> EventSourceResponse:
    """The events of a run after that of this number."""

    async def events() -> AsyncIterator[ServerSentEvent]:
        async for event in run.subscribe(after):
            yield server_sent(event)

    return EventSourceResponse(
        events(), ping=PING_SECONDS, sep="\n", send_timeout=SEND_SECONDS, headers={"x-run-id": run.id}
    )


def server_sent(event: RunEvent) -> ServerSentEvent:
    """One event as it is sent."""
    data = json.dumps({**event.data(), "at": event.at}, ensure_ascii=False, separators=(",", ":"))
    return ServerSentEvent(data=data, event=event.name, id=str(event.number), sep="\n")
