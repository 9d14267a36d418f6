"""Thread pools that are kept between calls.

A new thread may take a new arena of the C library's allocator, whose memory is not returned: new threads for each call
made the memory of a long run grow by a third.
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
        self._unfinished = 0

    @property
    def busy(self) -> bool:
        """Whether any work is unfinished."""
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


# Held while LlamaIndex is imported. Its modules import one another in circles, and Python locks each module by itself:
# two threads that start at different modules end in a _DeadlockError.
llama_index_import = threading.RLock()

_background = LastingPool("iterative-rag background", threads=2)


def in_background(work: Callable[[], object]) -> None:
    """Start work that is needed soon on another thread. Its errors are not reported: they recur where it is needed."""
    _background.submit(work)
