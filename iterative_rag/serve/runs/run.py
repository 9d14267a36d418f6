"""One run: its state, and its events, which are kept so that a client that lost its connection can go on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from iterative_rag.errors import IterativeRAGError
from iterative_rag.serve.runs.events import Failed, Happening, Queued, RunEvent, Started, Stopped, is_last
from iterative_rag.serve.runs.run_request import RunRequest
from iterative_rag.types import Answer, FinalStep, RunProgress
from iterative_rag.types.steps import AnswerDelta, TextWithdrawn


class RunStatus(StrEnum):
    """Where a run stands. The last three are final."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"


class Run:
    """A run of the server. `subscribe` gives its events, from the beginning or after one of them.

    Of the events that only tell how far a run has come the newest alone is kept. Safe to use from several threads.
    """

    def __init__(
        self,
        run_id: str,
        request: RunRequest,
        client: str,
        *,
        alone: Callable[[Run], None],
        ended: Callable[[Run], None],
    ) -> None:
        """`alone` is called when the last client that watched the run has left, `ended` once when it is over."""
        self.id, self.request, self.client = run_id, request, client
        self.created = time.time()
        self.stopped = threading.Event()
        self.answer: Answer | None = None
        self.error: IterativeRAGError | None = None
        self.state = RunStatus.QUEUED
        self._alone, self._ended = alone, ended
        self._lock = threading.Lock()
        self._events: list[RunEvent] = []
        self.last_number = 0
        self._listeners: set[Callable[[], None]] = set()
        self._over = threading.Event()
        self._subscribers = 0

    @property
    def over(self) -> bool:
        """Whether its last event has been published."""
        return self._over.is_set()

    @property
    def watched(self) -> bool:
        return self._subscribers > 0

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it is over; whether it is."""
        return self._over.wait(seconds)

    def stop(self) -> None:
        """End the run for everybody who watches it; its thread ends it before its next step or model call."""
        self.stopped.set()
        self.publish(Stopped())

    # --- from the thread of the run ------------------------------------------------------------------

    def publish(self, happening: Happening) -> None:
        """Add an event and wake whoever waits for it."""
        with self._lock:
            if self.over or (isinstance(happening, Queued) and self.state is not RunStatus.QUEUED):
                return
            self._drop_replaced(happening)
            self.last_number += 1
            self._events.append(RunEvent(self.last_number, happening, time.time()))
            match happening:
                case Started():
                    self.state = RunStatus.RUNNING
                case FinalStep(answer=answer):
                    self.answer, self.state = answer, RunStatus.DONE
                case Failed(error=error):
                    self.error, self.state = error, RunStatus.FAILED
                case Stopped():
                    self.state = RunStatus.STOPPED
            if is_last(happening):
                self._over.set()
            listeners = list(self._listeners)
        for wake in listeners:
            wake()
        if is_last(happening):
            self._ended(self)

    def _drop_replaced(self, new: Happening) -> None:
        """Of progress, and of places in the queue, only the newest counts, and of the text none that was taken back.
        Once it is over, only the steps do."""
        old: tuple[type, ...] = ()
        if isinstance(new, RunProgress | Queued):
            old = (type(new),)
        elif isinstance(new, TextWithdrawn):
            old = (AnswerDelta, TextWithdrawn)
        elif is_last(new):
            old = (RunProgress, Queued, AnswerDelta)
        if old:
            self._events = [event for event in self._events if not isinstance(event.happening, old)]

    # --- for whoever watches -------------------------------------------------------------------------

    def events(self, after: int = 0) -> list[RunEvent]:
        """What has happened since the event of this number."""
        with self._lock:
            return [event for event in self._events if event.number > after]

    async def subscribe(self, after: int = 0) -> AsyncIterator[RunEvent]:
        """The events after that of this number, as they happen, to the last. Who iterates them watches the run."""
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(changed.set)

        with self._watched(wake):
            while True:
                changed.clear()
                over = self.over
                for event in self.events(after):
                    after = event.number
                    yield event
                if over:
                    return
                await changed.wait()

    def touch(self) -> None:
        """A client that does not subscribe has looked: the time until it counts as gone begins anew."""
        if not self.watched and not self.over:
            self._alone(self)

    @contextmanager
    def _watched(self, wake: Callable[[], None]) -> Iterator[None]:
        with self._lock:
            self._listeners.add(wake)
            self._subscribers += 1
        try:
            yield
        finally:
            with self._lock:
                self._listeners.discard(wake)
                self._subscribers -= 1
            self.touch()
