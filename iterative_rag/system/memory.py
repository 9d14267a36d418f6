"""Keeps the memory of a long run small with glibc; does nothing with other C libraries."""

from __future__ import annotations

import os

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
