"""Calls a model for a reply of a form: tells it once what was wrong, then fails with ReplyUnreadable, which keeps what
the attempts cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace

from iterative_rag.errors import LLMError, LLMTimeout, ReplyTruncated, ReplyUnreadable
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest, Meter
from iterative_rag.replies.forms import R
from iterative_rag.replies.parsing import Unparsable, parse
from iterative_rag.types import Usage

Check = Callable[[R], str]


def ask(model: ChatModel, meter: Meter, request: ChatRequest, reply_type: type[R], check: Check[R] | None = None) -> R:
    """Call the model and read its reply; one retry that says what was wrong with the first.

    `check` returns a complaint about a readable reply, "" if it is fine. A complaint costs the retry too, but never
    the reply: the better of the two readable ones comes back. Raises LLMError, CapReached.
    """
    spent = Usage()
    kept: R | None = None
    wrong = text = ""
    for attempt in (1, 2):
        try:
            reply, seconds = _call(model, meter, _with_complaint(request, wrong, text))
        except ReplyTruncated as error:
            if attempt == 2 or error.retryable:
                raise
            wrong, text = "it was too long and was cut off; be much shorter", ""
            continue
        spent = _added(spent, reply, seconds)
        text = reply.text
        try:
            parsed = parse(text, reply_type)
        except Unparsable as error:
            wrong = str(error)
            continue
        kept = parsed
        wrong = check(parsed) if check else ""
        if not wrong:
            return parsed
    if kept is not None:
        return kept
    raise ReplyUnreadable(
        f"The model {model.name} did not reply in the form asked for ({request.role}), twice: {wrong}.",
        reply=text,
        usage=spent,
        hint="Try a larger model, or one that follows JSON schemas.",
    )


def _call(model: ChatModel, meter: Meter, request: ChatRequest) -> tuple[ChatReply, float]:
    request = replace(request, seconds=meter.before_call(request.role))
    begun = time.monotonic()
    try:
        reply = model.complete(request)
    except LLMError as error:
        waited = time.monotonic() - begun
        meter.failed_call(request, error, model.name, waited)
        if isinstance(error, LLMTimeout) and request.seconds is not None and waited >= request.seconds:
            meter.before_call(request.role)  # raises CapReached: not the model's time was up but the run's
        raise
    seconds = time.monotonic() - begun
    meter.after_call(request, reply, model.name, seconds)
    return reply, seconds


def _with_complaint(request: ChatRequest, wrong: str, text: str) -> ChatRequest:
    """The same request with the complaint at its end, so that a server's prefix cache still holds the rest."""
    if not wrong:
        return request
    began = f" It began: {json.dumps(text[:200], ensure_ascii=False)}" if text.strip() else ""
    advice = f"Your last reply could not be used: {wrong}.{began}\nReply again, with the JSON object alone."
    return replace(request, user=f"{request.user}\n\n{advice}")


def _added(spent: Usage, reply: ChatReply, seconds: float) -> Usage:
    return Usage(
        llm_calls=spent.llm_calls + 1,
        prompt_tokens=spent.prompt_tokens + reply.prompt_tokens,
        completion_tokens=spent.completion_tokens + reply.completion_tokens,
        seconds=spent.seconds + seconds,
    )
