"""Runs for async callers: one thread a run, whose steps come to the event loop. A run that is cancelled ends."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import closing, suppress
from contextvars import copy_context
from typing import TypeVar, cast

from iterative_rag.system.threads import RunStopped, refuse_stopped, stoppable

T = TypeVar("T")


class _End:
    """What comes behind the last item: the error that ended the work, None where it came to its end."""

    def __init__(self, error: BaseException | None) -> None:
        self.error = error


async def in_thread(items: Callable[[], Iterator[T]]) -> AsyncGenerator[T]:
    """The items, made on a thread of their own, which waits for none of them to be taken.

    Where the caller is cancelled or takes no more, the work is stopped before its next model call or item; its thread
    is not waited for.
    """
    loop = asyncio.get_running_loop()
    arrived: asyncio.Queue[T | _End] = asyncio.Queue()
    stopped = threading.Event()

    def arrive(item: T | _End) -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody is left to tell
            loop.call_soon_threadsafe(arrived.put_nowait, item)

    def work() -> None:
        try:
            with stoppable(stopped), closing(cast(Generator[T], items())) as made:
                for item in made:
                    refuse_stopped()
                    arrive(item)
            arrive(_End(None))
        except RunStopped:
            arrive(_End(asyncio.CancelledError()))
        except BaseException as error:  # noqa: BLE001 - raised again where the caller waits
            arrive(_End(error))

    # A daemon: a program that ends does not wait for a run that was cancelled.
    threading.Thread(target=copy_context().run, args=(work,), name="iterative-rag-run", daemon=True).start()
    try:
        while True:
            item = await arrived.get()
            if isinstance(item, _End):
                if item.error is not None:
                    raise item.error
                return
            yield item
    finally:
        stopped.set()
