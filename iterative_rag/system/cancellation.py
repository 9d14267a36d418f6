"""Tells work on another thread that nobody waits for its result any more, so that it can end early."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_observed: ContextVar[threading.Event | None] = ContextVar("observed", default=None)


@contextmanager
def observing(cancelled: threading.Event) -> Iterator[None]:
    """What is called inside can ask `is_cancelled` whether the event was set."""
    token = _observed.set(cancelled)
    try:
        yield
    finally:
        _observed.reset(token)


def is_cancelled() -> bool:
    cancelled = _observed.get()
    return cancelled is not None and cancelled.is_set()
