"""What native code prints by itself: a panic of Rust goes to standard error before it becomes an error."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO

_STDERR = 2
# With the stack that it came from, where RUST_BACKTRACE is set.
_PANIC = re.compile(
    rb"\n?thread '[^\n]*panicked at [^\n]*\n[^\n]*\n(?:stack backtrace:\n(?:[ \t][^\n]*\n)*)?(?:note: [^\n]*\n)?"
)
_lock = threading.Lock()
_inside = 0
_held: tuple[int, IO[bytes]] | None = None


@contextmanager
def panics_unprinted() -> Iterator[None]:
    """Keep panics off standard error while any thread is inside: the caller receives them as errors. All else is
    printed when the last one leaves."""
    global _inside, _held
    with _lock:
        _inside += 1
        if _inside == 1:
            _held = _hold()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if not _inside and _held is not None:
                _give_back(*_held)


def _hold() -> tuple[int, IO[bytes]] | None:
    """Standard error, and the file in its place; None where there is none, or no file may be opened."""
    try:
        file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by _give_back
        own = os.dup(_STDERR)
        os.dup2(file.fileno(), _STDERR)
    except OSError:
        return None
    return own, file


def _give_back(own: int, file: IO[bytes]) -> None:
    os.dup2(own, _STDERR)
    os.close(own)
    with file:
        file.seek(0)
        rest = memoryview(_PANIC.sub(b"", file.read()))
    while rest:
        rest = rest[os.write(_STDERR, rest) :]
