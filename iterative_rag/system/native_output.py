"""What native code prints by itself: a panic of Rust goes to standard error before it becomes an error."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

_STDERR = 2
# With the stack that it came from, where RUST_BACKTRACE is set.
_PANIC = re.compile(
    rb"\n?thread '[^\n]*panicked at [^\n]*\n[^\n]*\n(?:stack backtrace:\n(?:[ \t][^\n]*\n)*)?(?:note: [^\n]*\n)?"
)


class _Held:
    """Standard error while any thread is inside: a file, whose content is passed on at the end of each call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._inside = 0
        self._file: BinaryIO | None = None
        self._own = -1

    def begin(self) -> None:
        with self._lock:
            self._inside += 1
            if self._inside > 1:
                return
            try:
                self._own = os.dup(_STDERR)
                self._file = _in_memory()
                os.dup2(self._file.fileno(), _STDERR)
            except OSError:  # no standard error, or no file may be opened: it is printed, then
                self._give_back()

    def end(self) -> None:
        with self._lock:
            self._inside -= 1
            if self._file is not None:
                self._pass_on(self._file)
            if not self._inside:
                self._give_back()

    def _pass_on(self, file: BinaryIO) -> None:
        # Written and read at one shared offset.
        size = file.tell()
        if size:
            file.seek(0)
            rest = memoryview(_PANIC.sub(b"", file.read(size)))
            file.seek(0)
            file.truncate()
            while rest:
                rest = rest[os.write(self._own, rest) :]

    def _give_back(self) -> None:
        if self._own >= 0:
            os.dup2(self._own, _STDERR)
            os.close(self._own)
        if self._file is not None:
            self._file.close()
        self._own, self._file = -1, None


def _in_memory() -> BinaryIO:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("stderr"), "w+b", buffering=0)
    return cast(BinaryIO, tempfile.TemporaryFile(buffering=0))


_held = _Held()


@contextmanager
def panics_unprinted() -> Iterator[None]:
    """Keep panics off standard error: the caller receives them as errors. All else is printed, a moment later."""
    _held.begin()
    try:
        yield
    finally:
        _held.end()
