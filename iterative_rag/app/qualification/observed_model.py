"""A model whose calls are counted and timed while it is qualified."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from iterative_rag.errors import ReplyTruncated
from iterative_rag.llm.replies.json_parsing import Unparsable, json_values, visible
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest
from iterative_rag.types import RunProgress


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call: whether its reply had the form that was asked for, what it said, and what it took."""

    role: str
    text: str
    in_form: bool
    seconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0
    thought: bool = False


@dataclass(slots=True)
class ObservedModel:
    """Implements protocols.ChatModel by another one, and keeps its calls in the order in which they ended. `progress`
    is told when one begins or ends."""

    model: ChatModel
    progress: Callable[[RunProgress], None] | None = None
    calls: list[ObservedCall] = field(default_factory=list)
    begun: int = 0

    @property
    def name(self) -> str:
        return self.model.name

    def complete(self, request: ChatRequest) -> ChatReply:
        started = time.monotonic()
        self.begun += 1
        self._tell(request.role)
        try:
            reply = self.model.complete(request)
        except ReplyTruncated:
            self.calls.append(ObservedCall(request.role, "", False, time.monotonic() - started))
            raise
        seconds = time.monotonic() - started
        form = bool(reply.calls) or has_form(reply.text, request)
        self.calls.append(
            ObservedCall(
                request.role, reply.text, form, seconds, reply.prompt_tokens, reply.completion_tokens, reply.thought
            )
        )
        self._tell("")
        return reply

    def _tell(self, role: str) -> None:
        if self.progress:
            tokens = sum(call.prompt_tokens + call.completion_tokens for call in self.calls)
            self.progress(RunProgress(role, (), self.begun, tokens))


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


@dataclass(frozen=True, slots=True)
class CallFigures:
    """What calls took: medians of their seconds and tokens, and how many had the form that was asked for."""

    calls: int
    in_form: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int

    @classmethod
    def of(cls, calls: Sequence[ObservedCall]) -> CallFigures:
        return cls(
            calls=len(calls),
            in_form=sum(call.in_form for call in calls),
            seconds=median([call.seconds for call in calls] or [0.0]),
            prompt_tokens=int(median([call.prompt_tokens for call in calls] or [0])),
            completion_tokens=int(median([call.completion_tokens for call in calls] or [0])),
        )
