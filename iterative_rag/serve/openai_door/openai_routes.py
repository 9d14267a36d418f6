"""`/v1/models` and `/v1/chat/completions`: an answer is its text as Markdown with `[n]` and its sources below, whole or
in chunks."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from iterative_rag.app.proof.answer_export import markdown_body
from iterative_rag.errors import (
    CorpusNotFound,
    FollowUpUnclear,
    IterativeRAGError,
    NothingWithin,
    ServerBusy,
    UsageError,
)
from iterative_rag.serve.api.responses import json_object, status_of
from iterative_rag.serve.api.runs import PING_SECONDS, SEND_SECONDS, over_or_gone
from iterative_rag.serve.guard import client_of
from iterative_rag.serve.openai_door.chat_request import (
    FAMILY,
    UNDERSTOOD,
    ChatRequested,
    ModelName,
    ModelUnknown,
    RequestRefused,
    chat_requested,
    earlier_of_messages,
    offered,
    parsed,
    question_within,
)
from iterative_rag.serve.runs.events import RunEvent, error_to_json, public_answer, public_ending
from iterative_rag.serve.runs.run import Run
from iterative_rag.serve.runs.run_manager import RunManager, asking
from iterative_rag.serve.runs.run_request import checked_request
from iterative_rag.serve.runs.shown_run import shown_live
from iterative_rag.serve.services import Door, Services, services_of
from iterative_rag.storage.output import quote_of
from iterative_rag.storage.trace import new_run_id
from iterative_rag.text.control_characters import one_line, without_controls
from iterative_rag.text.markup import escaped_markdown
from iterative_rag.types import Answer, AnsweringStep, Citation, RunProgress, Status, Usage
from iterative_rag.types.steps import AnswerDelta, TextWithdrawn

_OURS = ("run_id", "status", "reason_code", "short_answer", "confidence", "citations")
# Of a quote; a row of a table may be a page long. The whole quote is in `iterative_rag.citations` of the reply.
_MOST_QUOTED = 400
_MARKER = re.compile(r"\\\[(\d+)\\\]")


@dataclass(frozen=True, slots=True)
class Content:
    """The text of the message, why it ends ("stop" or "length"), and the reason where there is no answer."""

    text: str
    finish_reason: str = "stop"
    refusal: str | None = None


def content_of(answer: Answer, server: str, understood: str = "") -> Content:
    """An abstention is told in the text, which every client shows, and in `refusal`, where programs look. A limit of
    the run ends with "length". `understood` is the question that a follow-up stands for. A source without a web address
    is linked to the page of the `server` (its address) that shows the quote in its article."""
    answer = public_ending(answer)
    quotes = f"{server}runs/{quote(answer.run_id)}/quotes/"
    links = {citation.n: citation.link or f"{quotes}{citation.n}" for citation in answer.citations}
    first_lines = [f"*{UNDERSTOOD} {_shown(understood)}*", ""] if understood else []
    text = "\n".join([*first_lines, *_lines(answer, links)]).strip()
    refusal = f"{answer.label}: {answer.reason}" if answer.status is Status.ABSTAINED else None
    return Content(text, "stop" if answer.cap is None else "length", refusal)


def _lines(answer: Answer, links: Mapping[int, str]) -> Iterator[str]:
    yield from (_MARKER.sub(r"[\1]", line) for line in markdown_body(answer))
    if answer.citations:
        yield from ("Sources:", "", *(_source(citation, links[citation.n]) for citation in answer.citations), "")
    if answer.nearest:
        yield from ("What comes nearest:", "", *(_source(citation, citation.link) for citation in answer.nearest))


def _source(citation: Citation, link: str) -> str:
    """`[1] [Title](<https://...>): “the quote”`; each a paragraph of its own."""
    title = _shown(citation.title)
    title = f"[{title}](<{link}>)" if link else f"*{title}*"
    page = f", page {citation.page}" if citation.page else ""
    dated = f", of {citation.date}" if citation.date else ""
    said = quote_of(citation)
    said = said if len(said) <= _MOST_QUOTED else f"{said[:_MOST_QUOTED].rstrip()} …"
    return f"[{citation.n}] {title}{page}{dated}: “{_shown(said)}”  "


def _shown(text: str) -> str:
    """Text of documents and models, of which Markdown makes nothing; only `[n]` stays as it is."""
    return _MARKER.sub(r"[\1]", escaped_markdown(one_line(text)))


# --- in the form of the protocol -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Completion:
    """What the completion and all of its chunks have in common."""

    run_id: str
    model: str
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, content: Content, thoughts: str, answer: Answer | None = None) -> dict[str, Any]:
        """The completion of a request that is not streamed."""
        message = {"role": "assistant", "content": content.text, "refusal": content.refusal}
        message |= {"reasoning_content": thoughts} if thoughts else {}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": content.finish_reason}
        usage = _usage_json(answer)
        return {**self._common("chat.completion"), "choices": [choice], "usage": usage, **_ours(answer)}

    def chunk(self, delta: Mapping[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": dict(delta), "logprobs": None, "finish_reason": finish_reason}
        return {**self._common("chat.completion.chunk"), "choices": [choice]}

    def last_chunk(self, content: Content, answer: Answer | None = None) -> dict[str, Any]:
        """The chunk that ends the text: why it ends, and in `iterative_rag` what the protocol has no field for."""
        delta = {"refusal": content.refusal} if content.refusal else {}
        return self.chunk(delta, content.finish_reason) | _ours(answer)

    def usage_chunk(self, answer: Answer | None) -> dict[str, Any]:
        return {**self._common("chat.completion.chunk"), "choices": [], "usage": _usage_json(answer)}

    def _common(self, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{self.run_id}", "object": kind, "created": self.created, "model": self.model}


def _usage_json(answer: Answer | None) -> dict[str, int]:
    """The tokens of all calls of the run; 0 for the built-in models, which have none."""
    usage = answer.usage if answer else Usage()
    prompt, completion = usage.prompt_tokens, usage.completion_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _ours(answer: Answer | None) -> dict[str, Any]:
    """For programs that know this server: the parts of the answer, which the text holds as Markdown."""
    told = public_answer(answer) if answer else {}
    return {"iterative_rag": {name: told[name] for name in _OURS}} if told else {}


def error_body(error: IterativeRAGError) -> dict[str, Any]:
    """What the protocol says of an error; it names no path, no server and no key of this machine."""
    told = error_to_json(error)
    message = " ".join(filter(None, (told["message"], told["hint"])))
    param, code = (error.param, error.code) if isinstance(error, RequestRefused) else (None, None)
    match error:
        case ServerBusy():
            kind, code = "rate_limit_error", "rate_limit_exceeded"
        case UsageError() | CorpusNotFound() | NothingWithin():
            kind = "invalid_request_error"
        case _:
            kind, code = "api_error", told["code"]
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


_log = logging.getLogger(__name__)
# Seconds after which a client whose run was not taken may try again.
RETRY_AFTER = "5"


def openai_door(services: Services) -> Door:
    """The base URL for clients is that of the server with `/v1`; the API key is the server's token, if it has one."""
    return Door(
        routes=[
            Route("/v1/models", models),
            Route("/v1/models/{model:path}", model),
            Route("/v1/chat/completions", complete, methods=["POST"]),
        ]
    )


def protocol_error(error: IterativeRAGError) -> Response:
    """An error in the form that the protocol has for it."""
    status = 404 if isinstance(error, ModelUnknown) else status_of(error)
    if status >= 500:
        _log.warning("%s: %s", type(error).__name__, error)
    return JSONResponse(error_body(error), status, {"retry-after": RETRY_AFTER} if status == 429 else None)


def models(request: Request) -> Response:
    """The corpora as models."""
    return JSONResponse({"object": "list", "data": list(map(_model_json, offered(services_of(request).pool)))})


def model(request: Request) -> Response:
    """One model, also one with a strategy that is not listed. Raises ModelUnknown."""
    return JSONResponse(_model_json(parsed(request.path_params["model"], services_of(request).pool)))


def _model_json(name: ModelName) -> dict[str, Any]:
    return {"id": str(name), "object": "model", "created": int(time.time()), "owned_by": FAMILY}


async def complete(request: Request) -> Response:
    """The last message of the user is the question. Raises UsageError, ModelUnknown, ServerBusy."""
    services = services_of(request)
    requested = chat_requested(await json_object(request))
    name = await asyncio.to_thread(parsed, requested.model, services.pool)
    if not (text := question_within(requested.question)) and requested.question.strip():
        nothing = Completion(new_run_id(), requested.model).whole(Content("{}"), "")
        return JSONResponse(nothing)
    wanted = {"question": text, "corpus": name.corpus, "strategy": name.strategy}
    question = await asyncio.to_thread(checked_request, wanted, services.pool)
    earlier = await asyncio.to_thread(earlier_of_messages, requested.earlier)
    run = services.runs.submit(question, client=client_of(request.scope), work=asking(question, earlier))
    if requested.stream:
        return _streamed(_chunks(run, requested, str(request.base_url), services.runs))
    if not await over_or_gone(request, run):
        return Response(status_code=499)
    thoughts = "".join(_thought(event) for event in run.events())
    content = _content(run, str(request.base_url))
    whole = Completion(run.id, requested.model).whole(content, thoughts, run.answer)
    return JSONResponse(whole, headers={"x-run-id": run.id})


def _content(run: Run, server: str) -> Content:
    """What a run that is over has to say. A follow-up that was not understood is asked back, as a person would.

    Raises the error of the run, and ServerBusy for one that was stopped.
    """
    if isinstance(run.error, FollowUpUnclear):
        told = f"{run.error} Please ask the full question."
        return Content(told, "stop", told)
    if run.answer is None:
        raise run.error or ServerBusy("The run was stopped.", hint="Ask again.")
    return content_of(run.answer, server, shown_live(run).understood)


async def _chunks(run: Run, requested: ChatRequested, server: str, runs: RunManager) -> AsyncIterator[dict[str, Any]]:
    """The hops as reasoning while they happen, and the answer once it was checked. A client that goes away ends the
    run: it cannot come back to this stream."""
    completion = Completion(run.id, requested.model)
    try:
        yield completion.chunk({"role": "assistant", "content": ""})
        async for event in run.subscribe():
            if thought := _thought(event):
                yield completion.chunk({"reasoning_content": thought})
        content = _content(run, server)
        yield completion.chunk({"content": content.text})
        yield completion.last_chunk(content, run.answer)
        if requested.include_usage:
            yield completion.usage_chunk(run.answer)
    except IterativeRAGError as error:
        yield error_body(error)
    except Exception:  # noqa: BLE001 - the status is sent: a client can only be told within the stream
        _log.exception("Run %s", run.id)
        yield error_body(IterativeRAGError("An unexpected error.", hint="See the server's log."))
    finally:
        if not run.over:
            runs.stop(run)


def _thought(event: RunEvent) -> str:
    """What happens as a part of the reasoning, most of it a line; "" for the counts of a run that goes on.

    The answer as it is written is a part of it, too: it is not checked yet, and the text of a message cannot be taken
    back.
    """
    match event.happening:
        case AnswerDelta(start=start, text=text):
            return f"{'' if start else 'Draft: '}{without_controls(text)}"
        case TextWithdrawn(reason=reason):
            return f"\nThe draft does not count. {reason}\n"
        case AnsweringStep():
            return "\n"
        case RunProgress():
            return ""
    return f"{event.words}\n" if event.words else ""


def _streamed(chunks: AsyncIterator[dict[str, Any]]) -> EventSourceResponse:
    async def events() -> AsyncIterator[ServerSentEvent]:
        async for chunk in chunks:
            yield ServerSentEvent(data=json.dumps(chunk, ensure_ascii=False), sep="\n")
        yield ServerSentEvent(data="[DONE]", sep="\n")

    return EventSourceResponse(events(), ping=PING_SECONDS, sep="\n", send_timeout=SEND_SECONDS)
