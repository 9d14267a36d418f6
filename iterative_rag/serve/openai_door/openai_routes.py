"""`/v1/models` and `/v1/chat/completions`."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from iterative_rag.errors import FollowUpUnclear, IterativeRAGError, ServerBusy
from iterative_rag.serve.api.responses import json_object
from iterative_rag.serve.api.runs import PING_SECONDS, SEND_SECONDS, over_or_gone
from iterative_rag.serve.guards.limits import client_of
from iterative_rag.serve.openai_door.answer_content import Content, content_of
from iterative_rag.serve.openai_door.chat_request import ChatRequested, chat_requested
from iterative_rag.serve.openai_door.client_tasks import question_within, task_reply
from iterative_rag.serve.openai_door.earlier_messages import AnswersGiven, earlier_of_messages
from iterative_rag.serve.openai_door.protocol import (
    Completion,
    error_body,
    model_json,
    offered,
    parsed,
    refusal_response,
)
from iterative_rag.serve.runs.events import Happening
from iterative_rag.serve.runs.run import Run
from iterative_rag.serve.runs.run_manager import RunManager, asking
from iterative_rag.serve.runs.run_request import RunRequest, checked_request
from iterative_rag.serve.services import Door, Services, services_of
from iterative_rag.serve.step_words import step_words
from iterative_rag.storage.trace import new_run_id
from iterative_rag.text.control_characters import without_controls
from iterative_rag.types import AnsweringStep, FollowUpStep, RunProgress, Usage
from iterative_rag.types.written_answer import AnswerDelta, TextWithdrawn

_log = logging.getLogger(__name__)
Endpoint = Callable[[Request], Awaitable[Response]]


def openai_door(services: Services) -> Door:
    """The base URL for clients is that of the server with `/v1`; the API key is the server's token, if it has one."""
    return Door(
        routes=[
            Route("/v1/models", _told_by_protocol(models), methods=["GET"]),
            Route("/v1/models/{model:path}", _told_by_protocol(model), methods=["GET"]),
            Route("/v1/chat/completions", _told_by_protocol(partial(complete, given=AnswersGiven())), methods=["POST"]),
        ]
    )


def _told_by_protocol(endpoint: Endpoint) -> Endpoint:
    """Errors in the form that the protocol has for them."""

    async def told(request: Request) -> Response:
        try:
            return await endpoint(request)
        except IterativeRAGError as error:
            reply = refusal_response(error)
            if reply.status_code >= 500:
                _log.warning("%s: %s", type(error).__name__, error)
            return reply

    return told


async def models(request: Request) -> Response:
    """The corpora as models."""
    names = await asyncio.to_thread(offered, services_of(request).pool)
    created = int(time.time())
    return JSONResponse({"object": "list", "data": [model_json(name, created) for name in names]})


async def model(request: Request) -> Response:
    """One model, also one with a strategy that is not listed. Raises ModelUnknown."""
    name = await asyncio.to_thread(parsed, request.path_params["model"], services_of(request).pool)
    return JSONResponse(model_json(name, int(time.time())))


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question that is being answered: its run, the request, the address of this server for its client, and the
    answers given before."""

    run: Run
    requested: ChatRequested
    server: str
    given: AnswersGiven

    def content(self) -> Content:
        """What a run that is over has to say. A follow-up that was not understood is asked back, as a person would.

        Raises the error of the run, and ServerBusy for one that was stopped.
        """
        run = self.run
        if isinstance(run.error, FollowUpUnclear):
            told = f"{run.error} Please ask the full question."
            return Content(told, "stop", told)
        if run.answer is None:
            raise run.error or ServerBusy("The run was stopped.", hint="Ask again.")
        follow_ups = (event.happening for event in run.events() if isinstance(event.happening, FollowUpStep))
        understood = next((step.question for step in follow_ups if step.question != step.asked), "")
        content = content_of(run.answer, self.requested, self.server, understood)
        self.given.remember(run.request.corpus, content.text, run.answer)
        return content


async def complete(request: Request, *, given: AnswersGiven) -> Response:
    """The last message of the user is the question. Raises UsageError, ModelUnknown, ServerBusy."""
    services = services_of(request)
    requested = chat_requested(await json_object(request))
    name = await asyncio.to_thread(parsed, requested.model, services.pool)
    if (reply := task_reply(requested.question)) is not None:
        return _replied(requested, reply)
    wanted = {
        "question": question_within(requested.question),
        "corpus": name.corpus,
        "strategy": name.strategy,
        "length": requested.length,
    }
    question: RunRequest = await asyncio.to_thread(checked_request, wanted, services.pool)
    facts_of = partial(given.facts, question.corpus)
    earlier = await asyncio.to_thread(earlier_of_messages, requested.earlier, question.question, facts_of)
    run = services.runs.submit(question, client=client_of(request.scope), work=asking(question, earlier))
    asked = _Asked(run, requested, str(request.base_url), given)
    return _streamed(_chunks(asked, services.runs)) if requested.stream else await _whole(request, asked)


async def _whole(request: Request, asked: _Asked) -> Response:
    run, requested = asked.run, asked.requested
    if not await over_or_gone(request, run):
        return Response(status_code=499)
    content = asked.content()
    thoughts = "".join(_thought(event.happening) for event in run.events())
    usage = run.answer.usage if run.answer else Usage()
    whole = Completion(run.id, requested.model).whole(content, thoughts, usage, run.answer)
    return JSONResponse(whole, headers={"x-run-id": run.id})


async def _chunks(asked: _Asked, runs: RunManager) -> AsyncIterator[dict[str, Any]]:
    """The hops as reasoning while they happen, and the answer once it was checked. A client that goes away ends the
    run: it cannot come back to this stream."""
    run, requested = asked.run, asked.requested
    completion = Completion(run.id, requested.model)
    try:
        yield completion.chunk({"role": "assistant", "content": ""})
        async for event in run.subscribe():
            if thought := _thought(event.happening):
                yield completion.chunk({"reasoning_content": thought})
        content = asked.content()
        yield completion.chunk({"content": content.text})
        yield completion.last_chunk(content, run.answer)
        if requested.include_usage:
            yield completion.usage_chunk(run.answer.usage if run.answer else Usage())
    except IterativeRAGError as error:
        yield error_body(error)
    except Exception:  # noqa: BLE001 - the status is sent: a client can only be told within the stream
        _log.exception("Run %s", run.id)
        yield error_body(IterativeRAGError("An unexpected error.", hint="See the server's log."))
    finally:
        if not run.over:
            runs.stop(run)


def _thought(happening: Happening) -> str:
    """What happens as a part of the reasoning, most of it a line; "" for the counts of a run that goes on.

    The answer as it is written is a part of it, too: it is not checked yet, and the text of a message cannot be taken
    back.
    """
    match happening:
        case AnswerDelta(start=start, text=text):
            return f"{'' if start else 'Draft: '}{without_controls(text)}"
        case TextWithdrawn(reason=reason):
            return f"\nThe draft does not count. {reason}\n"
        case AnsweringStep():
            return "\n"
        case RunProgress():
            return ""
    words = step_words(happening)
    return f"{words}\n" if words else ""


def _replied(requested: ChatRequested, reply: str) -> Response:
    """A reply that needs no run."""
    completion, content = Completion(new_run_id(), requested.model), Content(reply, "stop", None)
    if not requested.stream:
        return JSONResponse(completion.whole(content, "", Usage()))

    async def chunks() -> AsyncIterator[dict[str, Any]]:
        yield completion.chunk({"role": "assistant", "content": reply})
        yield completion.last_chunk(content)
        if requested.include_usage:
            yield completion.usage_chunk(Usage())

    return _streamed(chunks())


def _streamed(chunks: AsyncIterator[dict[str, Any]]) -> EventSourceResponse:
    async def events() -> AsyncIterator[ServerSentEvent]:
        async for chunk in chunks:
            yield ServerSentEvent(data=json.dumps(chunk, ensure_ascii=False), sep="\n")
        yield ServerSentEvent(data="[DONE]", sep="\n")

    return EventSourceResponse(events(), ping=PING_SECONDS, sep="\n", send_timeout=SEND_SECONDS)
