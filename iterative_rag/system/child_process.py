"""A child process that replies to lines, with limits of memory and time: what a malicious file does to a library in C
or C++, a crash, an endless loop, exhausted memory, ends with it. It limits itself, so that it ends even when its parent
is gone."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import BinaryIO

# Runs in isolated mode, so that nothing is imported from the working folder, then with the parent's own path.
_PROGRAM = """
import importlib, json, sys
paths, module, given = json.loads(sys.argv[1])
sys.path[:] = paths
importlib.import_module(module).serve(*given)
"""
_MAX_MESSAGE = 128 * 1024 * 1024


class ChildProcess:
    """Runs `serve` of a module with what is given, plain JSON types. For one thread at a time."""

    def __init__(self, module: str, *given: object) -> None:
        self._running = subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, json.dumps([[*filter(os.path.isabs, sys.path)], module, given])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def ask(self, line: bytes) -> None:
        assert self._running.stdin is not None
        with contextlib.suppress(OSError):  # it has ended, which its reply says
            self._running.stdin.write(line + b"\n")
            self._running.stdin.flush()

    def reply(self, seconds: float) -> bytes:
        """The next line; less than a line if the child ended or was killed at the time limit."""
        assert self._running.stdout is not None
        alarm = threading.Timer(max(seconds, 0.0), self._running.kill)
        alarm.daemon = True
        alarm.start()
        try:
            return self._running.stdout.readline(_MAX_MESSAGE)
        finally:
            alarm.cancel()

    def close(self) -> str:
        """End it; the signal or exit code with which it ended."""
        with contextlib.suppress(OSError), self._running:  # unsent data is not needed
            self._running.kill()
        code = self._running.wait()
        return signal.Signals(-code).name if code < 0 else f"exit code {code}"


def asked_lines(megabytes: int, seconds: float) -> Iterator[tuple[bytes, BinaryIO]]:
    """For `serve`: each line that the parent sends, and where the reply is written. A line may take so many seconds of
    processor time; the parent watches the wall clock."""
    # Keep what libraries print out of the output.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Allocated memory, not mapped: libraries reserve addresses that they never use.
    _limit("RLIMIT_DATA", megabytes * 1_000_000)
    _limit("RLIMIT_CORE", 0)
    for line in sys.stdin.buffer:
        _limit("RLIMIT_CPU", int(time.process_time() + seconds) + 2)
        yield line, output


def _limit(name: str, value: int) -> None:
    """Set a limit where the system has it. Windows does not: there only the parent's clock holds."""
    try:
        import resource
    except ImportError:
        return
    kind = getattr(resource, name)
    hard = resource.getrlimit(kind)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    with contextlib.suppress(OSError, ValueError):  # a system that has the limit but does not let it be set
        resource.setrlimit(kind, (value, hard))
