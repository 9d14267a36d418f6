"""Keeps the memory of a long run small with glibc; does nothing with other C libraries."""

from __future__ import annotations

import os
import threading
import time

_M_ARENA_MAX = -8
ARENAS = 2
# Trimming takes less than 0.01 s; up to 60 MB became free within two seconds.
SECONDS_BETWEEN_TRIMS = 0.5


def limit_arenas() -> None:
    """Limit the allocator to two arenas, unless the user sets MALLOC_ARENA_MAX. Call it before threads are started.

    By default it uses up to eight arenas per core, and memory freed in one is not reused in another, so that a long run
    holds several times what it uses. Two are no slower.
    """
    if "MALLOC_ARENA_MAX" not in os.environ and _glibc():
        import ctypes

        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, ARENAS)


class MemoryTrimmer:
    """Returns free memory to the system now and then. Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic()

    def __call__(self) -> None:
        """Call it after each piece of work; it does nothing within SECONDS_BETWEEN_TRIMS of the last trim."""
        with self._lock:
            if time.monotonic() - self._last < SECONDS_BETWEEN_TRIMS or not _glibc():
                return
            self._last = time.monotonic()
        import ctypes

        ctypes.CDLL(None).malloc_trim(0)


def _glibc() -> bool:
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") is not None
    except (AttributeError, ValueError):  # Windows; macOS
        return False
