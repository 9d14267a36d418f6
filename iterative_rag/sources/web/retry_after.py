"""Asks a server again, politely: growing pauses, the pause that the server asks for, an end."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from iterative_rag.errors import FetchError

T = TypeVar("T")

TRIES = 6
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 300.0


class Patience:
    """Shared by all threads that talk to one server: a pause that it asks for holds back every one of them.

    `on_pause` is told of each pause and its reason, from whichever thread. `sleep` and `now` (seconds) are parameters
    so that tests need not wait; `stop` ends every pause at once.
    """

    def __init__(
        self,
        *,
        tries: int = TRIES,
        first_pause: float = FIRST_PAUSE,
        longest_pause: float = LONGEST_PAUSE,
        on_pause: Callable[[float, FetchError], None] | None = None,
        sleep: Callable[[float], object] | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.tries = tries
        self.first_pause = first_pause
        self.longest_pause = longest_pause
        self._on_pause = on_pause
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._now = now
        self._not_before = float("-inf")
        self._lock = threading.Lock()

    def stop(self) -> None:
        """Nothing is asked any more: pauses end, calls that wait fail."""
        self._stopped.set()

    def call(self, attempt: Callable[[], T]) -> T:
        """Make a call, again while its FetchError is retryable. Raises the last one."""
        for turn in range(1, self.tries + 1):
            self._wait_for_turn()
            try:
                return attempt()
            except FetchError as error:
                if not error.retryable or turn == self.tries:
                    raise
                self._hold(error, turn)
        raise AssertionError("unreachable")

    def _wait_for_turn(self) -> None:
        while not self._stopped.is_set() and (left := self._not_before - self._now()) > 0:
            self._sleep(left)
        if self._stopped.is_set():
            raise FetchError("Stopped before it was done.", hint="Run the same command again to go on.")

    def _hold(self, error: FetchError, turn: int) -> None:
        grown = min(self.longest_pause, self.first_pause * 2.0 ** (turn - 1) * random.uniform(1.0, 1.25))
        asked = error.retry_after
        if asked is not None and asked > self.longest_pause:
            raise FetchError(
                f"{error} It asks for a pause of {asked:,.0f} s.",
                hint="Run the same command again after that.",
                status=error.status,
            ) from error
        pause = max(grown, asked or 0.0)  # servers under load say "0", or the same few seconds each time
        if self._on_pause:
            self._on_pause(pause, error)
        if asked is None:
            self._sleep(pause)
            return
        with self._lock:
            self._not_before = max(self._not_before, self._now() + pause)
