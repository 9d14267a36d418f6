"""Retries with growing pauses, or the pause that the server asks for."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from typing import TypeVar

from iterative_rag.errors import FetchError

T = TypeVar("T")

TRIES = 6
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0


class RetryPolicy:
    """For one server, usable from several threads.

    `on_pause` gets each pause in seconds and its reason, on any thread. `sleep` is for tests, which need not wait.
    """

    def __init__(
        self,
        *,
        tries: int = TRIES,
        longest_pause: float = LONGEST_PAUSE,
        on_pause: Callable[[float, FetchError], None] | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.tries = tries
        self.longest_pause = longest_pause
        self._on_pause = on_pause
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait

    def stop(self) -> None:
        """End all pauses and fail all calls that wait."""
        self._stopped.set()

    def call(self, attempt: Callable[[], T]) -> T:
        """Call `attempt`, again while it raises a retryable FetchError. Raises the last one."""
        for turn in range(1, self.tries + 1):
            if self._stopped.is_set():
                raise FetchError("Stopped before it was done.", hint="Run the same command again to go on.")
            try:
                return attempt()
            except FetchError as error:
                if not error.retryable or turn == self.tries:
                    raise
                self._pause(error, turn)
        raise AssertionError("unreachable")

    def _pause(self, error: FetchError, turn: int) -> None:
        asked = error.retry_after or 0.0
        if asked > self.longest_pause:
            raise FetchError(
                f"{error} It asks for a pause of {asked:,.0f} s.",
                hint="Run the same command again after that.",
                status=error.status,
            ) from error
        grown = min(self.longest_pause, FIRST_PAUSE * 2.0 ** (turn - 1) * random.uniform(1.0, 1.25))
        pause = max(grown, asked)  # servers under load ask for 0 s, or for the same few seconds each time
        if self._on_pause:
            self._on_pause(pause, error)
        self._sleep(pause)
