"""Counts what a run uses, refuses calls beyond its limits, and writes each call to the trace."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from iterative_rag.errors import CapReached
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace
from iterative_rag.system.threads import refuse_stopped
from iterative_rag.types import Cap, DocumentAtHand, ModelUsage, RunProgress, Usage

# One call is reserved for these roles, of which one makes the last attempt at a limit.
LAST_ROLES = frozenset({"answer", "write"})
# Seconds between two reports of a reading that makes no calls: the built-in models read up to fifty windows a second.
_PAUSE = 0.1


class RunBudget:
    """The budget of one run. Calls count when they start, so that calls in flight cannot exceed the limit.

    `progress` is called when a call or the reading of a document begins or ends: from the thread where it happens, and
    never twice at once, so it must return at once. `written` is told the answer while the model writes it.
    """

    def __init__(
        self,
        settings: Settings,
        trace: Trace,
        progress: Callable[[RunProgress], None] | None = None,
        written: Callable[[str], None] | None = None,
    ) -> None:
        self._settings, self._trace, self._progress, self._written = settings, trace, progress, written
        self._answer = ""
        self._roles: list[str] = []  # of the calls under way
        self._reading: list[DocumentAtHand] = []
        self._told_at, self._told_reading = 0.0, False
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._calls = self._cache_hits = 0
        self.replies, self._waited = 0, 0.0
        self._models: dict[str, ModelUsage] = {}

    def seconds_left(self) -> float:
        return self._settings.max_seconds - (time.monotonic() - self._started)

    def reached(self, cap: Cap) -> CapReached:
        """The error that names the limit that was reached."""
        return CapReached(cap, getattr(self._settings, f"max_{cap.value}"))

    def check(self) -> None:
        """Raise CapReached when time or tokens are used up."""
        if self.seconds_left() <= 0:
            raise self.reached(Cap.SECONDS)
        if self._tokens() >= self._settings.max_tokens:
            raise self.reached(Cap.TOKENS)

    def before_call(self, role: str) -> float:
        refuse_stopped()
        with self._lock:
            self.check()
            reserved = 1 if role not in LAST_ROLES and self._settings.max_calls > 1 else 0
            if self._calls >= self._settings.max_calls - reserved:
                raise self.reached(Cap.CALLS)
            self._calls += 1
            self._roles.append(role)
            self._tell()
            return self.seconds_left()

    def after_call(self, request: ChatRequest, reply: ChatReply, model: str, seconds: float) -> None:
        self.replies, self._waited = self.replies + 1, self._waited + seconds
        tokens = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.completion_tokens}
        self._ended(request, model, seconds, reply.prompt_tokens, reply.completion_tokens, reply=reply.text, **tokens)

    def failed_call(self, request: ChatRequest, error: Exception, model: str, seconds: float) -> None:
        self._ended(request, model, seconds, 0, 0, error=f"{type(error).__name__}: {error}")

    def _ended(
        self, request: ChatRequest, model: str, seconds: float, prompt: int, completion: int, **came: object
    ) -> None:
        with self._lock:
            used = self._models.get(model, ModelUsage(model, 0, 0, 0))
            tokens = used.prompt_tokens + prompt, used.completion_tokens + completion
            self._models[model] = ModelUsage(model, used.llm_calls + 1, *tokens)
            if request.role in self._roles:
                self._roles.remove(request.role)
            self._tell()
        asked = {"role": request.role, "model": model, "system": request.system, "prompt": request.user}
        self._trace.write("llm_call", **asked, **came, seconds=round(seconds, 3))

    @contextmanager
    def reading(self, document: DocumentAtHand) -> Iterator[None]:
        """While the block runs, a document is being read."""
        with self._lock:
            self._reading.append(document)
            self._tell_reading()
        try:
            yield
        finally:
            with self._lock:
                self._reading.remove(document)
                self._tell_reading()

    @property
    def answer_sink(self) -> Callable[[str], None] | None:
        """What a backend tells the text of the answer while it is written; None where nobody listens."""
        return self._write_answer if self._written else None

    def _write_answer(self, text: str) -> None:
        if self._written and text != self._answer:
            self._answer = text
            self._written(text)

    def withdraw_answer(self) -> None:
        """What was told of the answer does not count: it is written again."""
        self._write_answer("")

    def _tell_reading(self) -> None:
        """Tell what is being read, and when nothing is; where no calls are made, not faster than can be seen."""
        soon = time.monotonic() - self._told_at < _PAUSE
        if self._calls or (self._told_reading if not self._reading else not soon):
            self._tell()

    def _tell(self) -> None:
        self._told_at, self._told_reading = time.monotonic(), bool(self._reading)
        if self._progress:
            role = self._roles[0] if self._roles else ""
            used = self._calls, self._tokens(), self.replies, round(self._waited, 1)
            self._progress(RunProgress(role, tuple(self._reading), *used))

    def cache_hit(self, what: str) -> None:
        with self._lock:
            self._cache_hits += 1
        self._trace.write("cache_hit", what=what)

    def _tokens(self) -> int:
        return sum(used.prompt_tokens + used.completion_tokens for used in self._models.values())

    def usage(self) -> Usage:
        with self._lock:
            models = tuple(self._models.values())
            return Usage(
                llm_calls=self._calls,
                prompt_tokens=sum(used.prompt_tokens for used in models),
                completion_tokens=sum(used.completion_tokens for used in models),
                seconds=round(time.monotonic() - self._started, 3),
                cache_hits=self._cache_hits,
                models=models if len(models) > 1 else (),
            )

    def used_since(self, before: Usage) -> Usage:
        """The calls made and the seconds passed since `before`."""
        now = self.usage()
        return Usage(llm_calls=now.llm_calls - before.llm_calls, seconds=round(now.seconds - before.seconds, 3))
