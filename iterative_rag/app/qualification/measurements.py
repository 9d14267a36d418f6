"""What is measured of a model while it is qualified: its calls, and calls at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from statistics import median

from iterative_rag.errors import ReplyTruncated
from iterative_rag.llm.replies.json_parsing import Unparsable, json_values, visible
from iterative_rag.protocols import ChatModel, ChatReply, ChatRequest, Extractor
from iterative_rag.types import Need, RunProgress, Window

# How many calls are made together, and how much faster than one after another they have to be to count as parallel.
TOGETHER = 4
GAIN = 1.4
_TEXT = "The store of Brisk is numbered {n}. It was opened in 19{n:02d} and sells rope, lamps and tar."


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One call: whether its reply had the form that was asked for, what it said, and what it took."""

    role: str
    text: str
    in_form: bool
    seconds: float
    prompt_tokens: int = 0
    completion_tokens: int = 0


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
            ObservedCall(request.role, reply.text, form, seconds, reply.prompt_tokens, reply.completion_tokens)
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


@dataclass(frozen=True, slots=True)
class ParallelCalls:
    """Seconds of two calls one after another and of two at once, and the calls in flight that pay off."""

    one_by_one: float
    at_once: float
    in_flight: int

    @property
    def gain(self) -> float:
        return self.one_by_one / max(self.at_once, 1e-9)


def measure(extractor: Extractor) -> ParallelCalls:
    """Eight short calls at most. Raises LLMError."""
    one_by_one = sum(_seconds(extractor, [n]) for n in (11, 12))
    at_once = _seconds(extractor, [21, 22])
    if one_by_one / max(at_once, 1e-9) < GAIN:
        return ParallelCalls(one_by_one, at_once, 1)
    four = _seconds(extractor, range(31, 31 + TOGETHER))
    scales = 2 * at_once / max(four, 1e-9) >= GAIN
    return ParallelCalls(one_by_one, at_once, TOGETHER if scales else 2)


def _seconds(extractor: Extractor, numbers: Sequence[int]) -> float:
    started = time.monotonic()
    with ThreadPoolExecutor(len(numbers)) as pool:
        list(pool.map(lambda n: _call(extractor, n), numbers))
    return time.monotonic() - started


def _call(extractor: Extractor, n: int) -> None:
    text = _TEXT.format(n=n)
    need, window = Need(f"When was store {n} of Brisk opened?"), Window("store", "Store", "store.md", (), text)
    extractor.extract([need], [window], "")
