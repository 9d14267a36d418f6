"""Threads: pools that are kept between calls, and work that ends early because nobody waits for it any more.

A new thread may take a new arena of the C library's allocator, whose memory is not returned: new threads for each call
made the memory of a long run grow by a third.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_pools: weakref.WeakSet[LastingPool] = weakref.WeakSet()


def busy() -> bool:
    """Whether any lasting pool has unfinished work, without which a command may end."""
    return any(pool.busy for pool in list(_pools))


class LastingPool:
    """A pool of at most `threads` threads, kept for the life of the process.

    It is created on first use, and again in a forked child. At its end the interpreter waits for unfinished work: a
    thread that is killed inside a client library aborts the process.
    """

    def __init__(self, name: str, threads: int) -> None:
        self._name, self._threads = name, threads
        self._reset()
        _pools.add(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._unfinished: set[Future[Any]] = set()

    @property
    def busy(self) -> bool:
        """Whether any work is unfinished."""
        with self._lock:
            return bool(self._unfinished)

    def submit(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> Future[T]:
        """Start `work` on a thread of the pool."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._threads, self._name)
            future = self._executor.submit(work, *arguments, **options)
            self._unfinished.add(future)
        future.add_done_callback(self._unfinished.discard)
        return future


# Held while LlamaIndex is imported. Its modules import one another in circles, and Python locks each module by itself:
# two threads that start at different modules end in a _DeadlockError.
llama_index_import = threading.RLock()

_background = LastingPool("iterative-rag background", threads=2)


def in_background(work: Callable[[], object]) -> None:
    """Start work that is needed soon on another thread. Its errors are not reported: they recur where it is needed."""
    _background.submit(work)


# --- their memory, with glibc --------------------------------------------------------------------

_M_ARENA_MAX = -8
ARENAS = 2


def limit_arenas() -> None:
    """Limit the allocator to two arenas, unless the user sets MALLOC_ARENA_MAX. Call it before threads are started.

    By default it uses up to eight arenas per core, and memory freed in one is not reused in another, so that a long run
    holds several times what it uses. Two are no slower.
    """
    if "MALLOC_ARENA_MAX" not in os.environ and "CS_GNU_LIBC_VERSION" in getattr(os, "confstr_names", {}):
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


# --- calls and runs that nobody waits for any more -----------------------------------------------

_LOOK_SECONDS = 0.1  # how often a wait looks whether its run was stopped
_NEVER = threading.Event()
_observed: ContextVar[threading.Event] = ContextVar("observed", default=_NEVER)
_run: ContextVar[threading.Event] = ContextVar("run", default=_NEVER)


class RunStopped(BaseException):
    """The run was stopped from another thread. Like KeyboardInterrupt it is no fault, and no handler of faults takes it
    for one."""


@contextmanager
def _watching(variable: ContextVar[threading.Event], event: threading.Event) -> Iterator[None]:
    token = variable.set(event)
    try:
        yield
    finally:
        variable.reset(token)


def observing(cancelled: threading.Event) -> AbstractContextManager[None]:
    """What is called inside can ask `is_cancelled` whether the event was set."""
    return _watching(_observed, cancelled)


def stoppable(stopped: threading.Event) -> AbstractContextManager[None]:
    """The run inside ends with RunStopped, before its next call or while it waits, once the event is set."""
    return _watching(_run, stopped)


def is_cancelled() -> bool:
    """Whether nobody waits for the result of this call, or of its run, any more."""
    return _observed.get().is_set() or _run.get().is_set()


def refuse_stopped() -> None:
    """Raise RunStopped if the run of this thread was stopped."""
    if _run.get().is_set():
        raise RunStopped


def first_done(futures: Collection[Future[T]], seconds: float | None = None) -> set[Future[T]]:
    """Wait until one of the futures is done; those that are, none after `seconds`. Raises RunStopped."""
    if _run.get() is _NEVER:
        return wait(futures, timeout=seconds, return_when=FIRST_COMPLETED).done
    ends = None if seconds is None else time.monotonic() + seconds
    while True:
        refuse_stopped()
        left = _LOOK_SECONDS if ends is None else min(_LOOK_SECONDS, max(0.0, ends - time.monotonic()))
        done = wait(futures, timeout=left, return_when=FIRST_COMPLETED).done
        if done or (ends is not None and time.monotonic() >= ends):
            return done
