"""A model whose calls are kept, so that a qualification can say whether they had the form asked for."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from iterative_rag.errors import ReplyTruncated
from iterative_rag.llm.replies.json_parsing import Unparsable, json_values, visible
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call: whether its reply had the form that was asked for, what it said, and what it took."""

    text: str
    in_form: bool
    seconds: float


@dataclass(slots=True)
class ObservedModel:
    """Implements protocols.ChatModel by another one, and keeps its calls in the order in which they ended."""

    model: ChatModel
    calls: list[ObservedCall] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, request: ChatRequest) -> ChatReply:
        started = time.monotonic()
        try:
            reply = self.model.complete(request)
        except ReplyTruncated:
            self.calls.append(ObservedCall("", False, time.monotonic() - started))
            raise
        in_form = bool(reply.calls) or has_form(reply.text, request)
        self.calls.append(ObservedCall(reply.text, in_form, time.monotonic() - started))
        return reply


def has_form(text: str, request: ChatRequest) -> bool:
    """Whether a reply holds a JSON object with most fields of the schema: those without a value may be left out. Plain
    lines never have the form."""
    if request.schema is None:
        return False
    required = set(request.schema.get("required", ()))
    try:
        objects = [value for value in json_values(visible(text)) if isinstance(value, dict)]
    except Unparsable:
        return False
    return any(2 * len(required & value.keys()) >= len(required) for value in objects)
