"""Calls a model for a reply of a given form: tells it once what was wrong, asks once more without a schema if that does
not help, then fails with ReplyUnreadable, which says what the attempts cost."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from iterative_rag.errors import LLMError, LLMTimeout, ReplyTruncated, ReplyUnreadable
from iterative_rag.llm.replies.forms import R
from iterative_rag.llm.replies.json_parsing import Unparsable, parse
from iterative_rag.protocols import CallBudget, ChatModel, ChatReply, ChatRequest, FunctionCall
from iterative_rag.types import Usage

# The first attempt, and one that says what was wrong with it.
ATTEMPTS = 2


def ask(
    model: ChatModel,
    budget: CallBudget,
    request: ChatRequest,
    reply_type: type[R],
    check: Callable[[R], str] | None = None,
    attempts: int = ATTEMPTS,
) -> R:
    """Call the model and read its reply. A retry says what was wrong; where that cannot be read either, a third attempt
    (if `attempts` allows it) goes without schema and functions, which a server may be unable to follow.

    `check` returns a complaint about a readable reply, "" if it is fine. A complaint costs the retry as well, but the
    last readable reply is returned all the same. Raises LLMError, CapReached.
    """
    spent = Usage()
    kept: R | None = None
    wrong = text = ""
    for attempt in range(1, attempts + 1):
        asked = _with_complaint(request, wrong, text)
        if attempt > ATTEMPTS:
            if kept is not None:
                break
            asked = replace(asked, schema=None, functions=())
        try:
            reply, seconds = _call(model, budget, asked)
            spent = Usage(
                llm_calls=spent.llm_calls + 1,
                prompt_tokens=spent.prompt_tokens + reply.prompt_tokens,
                completion_tokens=spent.completion_tokens + reply.completion_tokens,
                seconds=spent.seconds + seconds,
            )
            text = reply.text
            if reply.thought and not text.strip():
                raise Unparsable("it held thoughts alone; write the reply itself")
            kept = parse(text, reply_type)
        except ReplyTruncated as error:
            if error.retryable or (attempt == attempts and kept is None):
                raise
            wrong, text = "it was too long and was cut off; be much shorter", ""
        except Unparsable as error:
            wrong = str(error)
        else:
            wrong = check(kept) if check else ""
            if not wrong:
                return kept
    if kept is not None:
        return kept
    raise ReplyUnreadable(
        f"The model {model.name} did not reply in the form asked for ({request.role}) in {attempts} attempts: {wrong}.",
        reply=text,
        usage=spent,
        hint="Try a larger model, or one that follows JSON schemas.",
    )


def _call(model: ChatModel, budget: CallBudget, request: ChatRequest) -> tuple[ChatReply, float]:
    request = replace(request, seconds=budget.before_call(request.role))
    started = time.monotonic()
    try:
        reply = model.complete(request)
        reply = replace(reply, text=written_out(reply.text, reply.calls))
    except LLMError as error:
        waited = time.monotonic() - started
        budget.failed_call(request, error, model.name, waited)
        if isinstance(error, LLMTimeout) and request.seconds is not None and waited >= request.seconds:
            budget.before_call(request.role)  # raises CapReached: the time of the run is up, not that of the call
        raise
    seconds = time.monotonic() - started
    budget.after_call(request, reply, model.name, seconds)
    return reply, seconds


def written_out(text: str, calls: Sequence[FunctionCall]) -> str:
    """A reply with calls of functions as the JSON that a model without function calling writes."""
    if not calls:
        return text
    made = [{"tool": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps({"thought": text, "calls": made}, ensure_ascii=False)


def _with_complaint(request: ChatRequest, wrong: str, text: str) -> ChatRequest:
    """The same request with the complaint at its end, so that the server's prefix cache still covers the rest."""
    if not wrong:
        return request
    began = f" It began: {json.dumps(text[:200], ensure_ascii=False)}" if text.strip() else ""
    fields = ", ".join(_described(name, form) for name, form in (request.schema or {}).get("properties", {}).items())
    wanted = f" Its fields are: {fields}." if fields else ""
    advice = f"Your last reply could not be used: {wrong}.{began}\nReply again, with the JSON object alone.{wanted}"
    return replace(request, user=f"{request.user}\n\n{advice}", broken=True)


def _described(name: str, form: Mapping[str, Any]) -> str:
    """A field of a schema: `status (one of "known", "needs", "stuck")`, `needs (a list)`."""
    if words := form.get("enum"):
        return f"{name} (one of {', '.join(json.dumps(word) for word in words)})"
    return f"{name} ({'a list' if form.get('type') == 'array' else form.get('type', 'any')})"
