"""Threads that outlive a call.

A thread may claim an arena of the C library's allocator, and what was freed in there stays with the process: a new
thread for each call made the memory of a long run grow by a third.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


_pools: weakref.WeakSet[LastingPool] = weakref.WeakSet()


def busy() -> bool:
    """Whether work of any lasting pool is going on that nobody waits for: a command may end without it."""
    return any(pool.busy for pool in list(_pools))


class LastingPool:
    """A pool of threads for as long as the process lives, at most `threads` of them; one starts where none is idle.

    Made when it is first used, and anew in a forked child. At its end, the interpreter waits for the work that is
    going on: killed inside a client library, a thread aborts the process.
    """

    def __init__(self, name: str, threads: int) -> None:
        self._name, self._threads = name, threads
        self._begin()
        _pools.add(self)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._executor: ThreadPoolExecutor | None = None
        self._unfinished = 0

    @property
    def busy(self) -> bool:
        """Whether any work is waiting or going on."""
        with self._lock:
            return self._unfinished > 0

    def submit(self, work: Callable[P, T], *arguments: P.args, **options: P.kwargs) -> Future[T]:
        """Start `work` on a thread of the pool."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(self._threads, self._name)
            future = self._executor.submit(work, *arguments, **options)
            self._unfinished += 1
        future.add_done_callback(self._finished)
        return future

    def _finished(self, _: Future[T]) -> None:
        with self._lock:
            self._unfinished -= 1


# Held while LlamaIndex is imported. Its modules import one another in circles, and Python's own locks are one a module:
# two threads that enter at different places end in a _DeadlockError.
llama_index_import = threading.RLock()

_ahead = LastingPool("iterative-rag loading", threads=2)


def ahead(work: Callable[[], object]) -> None:
    """Do on another thread what is needed soon. A fault is not told: whoever needs the work done meets it again."""
    _ahead.submit(work)
