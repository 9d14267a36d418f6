"""Keeps the memory of a long run small, where the C library is glibc; elsewhere nothing is done."""

from __future__ import annotations

import os
import threading
import time

_M_ARENA_MAX = -8
ARENAS = 2
# Seconds between two times that memory is given back, which takes less than a hundredth of one. Within two seconds as
# much as 60 MB came together.
PAUSE = 0.5


def limit_arenas() -> None:
    """Let the allocator use two arenas; a user's own MALLOC_ARENA_MAX stands. To be called before threads are started.

    It makes one for each busy thread, up to eight a core, and what is freed in one serves no other: a long run holds
    several times what it uses. With two it is no slower.
    """
    if "MALLOC_ARENA_MAX" not in os.environ and _glibc():
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


class Returning:
    """Gives memory that is free back to the system now and then. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic()

    def __call__(self) -> None:
        """To be called after a piece of work; does nothing within PAUSE of the last time."""
        with self._lock:
            if time.monotonic() - self._last < PAUSE or not _glibc():
                return
            self._last = time.monotonic()
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def _glibc() -> bool:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") is not None
    except (AttributeError, ValueError):  # Windows; macOS
        return False
