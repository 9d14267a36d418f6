"""Tells work that nobody waits for its result any more, so that it can end early: one call on another thread, or a
whole run."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

# How often a wait looks whether its run was stopped.
_LOOK_SECONDS = 0.1
_observed: ContextVar[threading.Event | None] = ContextVar("observed", default=None)
_run: ContextVar[threading.Event | None] = ContextVar("run", default=None)


class RunStopped(BaseException):
    """The run was stopped from another thread. Like KeyboardInterrupt it is no fault, and no handler of faults takes it
    for one."""


@contextmanager
def observing(cancelled: threading.Event) -> Iterator[None]:
    """What is called inside can ask `is_cancelled` whether the event was set."""
    token = _observed.set(cancelled)
    try:
        yield
    finally:
        _observed.reset(token)


@contextmanager
def stoppable(stopped: threading.Event) -> Iterator[None]:
    """The run inside ends with RunStopped, before its next call or while it waits, once the event is set."""
    token = _run.set(stopped)
    try:
        yield
    finally:
        _run.reset(token)


def is_cancelled() -> bool:
    """Whether nobody waits for the result of this call, or of its run, any more."""
    cancelled = _observed.get()
    return (cancelled is not None and cancelled.is_set()) or _is_stopped()


def refuse_stopped() -> None:
    """Raise RunStopped if the run of this thread was stopped."""
    if _is_stopped():
        raise RunStopped


def first_done(futures: Collection[Future[T]], seconds: float | None = None) -> set[Future[T]]:
    """Wait until one of the futures is done; those that are, none after `seconds`. Raises RunStopped."""
    if _run.get() is None:
        return wait(futures, timeout=seconds, return_when=FIRST_COMPLETED).done
    ends = None if seconds is None else time.monotonic() + seconds
    while True:
        refuse_stopped()
        left = _LOOK_SECONDS if ends is None else min(_LOOK_SECONDS, max(0.0, ends - time.monotonic()))
        done = wait(futures, timeout=left, return_when=FIRST_COMPLETED).done
        if done or (ends is not None and time.monotonic() >= ends):
            return done


def _is_stopped() -> bool:
    stopped = _run.get()
    return stopped is not None and stopped.is_set()
