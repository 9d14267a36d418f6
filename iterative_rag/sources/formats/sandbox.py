"""Reads files in a child process with limits of memory and time.

PDFium, Lexbor and libxml2 are fast because they are written in C and C++; a file made to harm them can crash them, keep
them busy for ever or make them take all memory. In a process of their own that costs one file and a sentence.
"""

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
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import sandbox_child
from iterative_rag.sources.formats.format import Reading, shown

# In isolated mode, so that no file of the working folder is imported; then with the parent's own path.
_PROGRAM = """
import json, sys
paths, megabytes, seconds = json.loads(sys.argv[1])
sys.path[:] = paths
from iterative_rag.sources.formats.sandbox_child import serve
serve(megabytes, seconds)
"""
# What a file may take once the folder's budget is used up: more than most files need, so that these are still read.
_LAST_SECONDS = 5.0
_MOST_MESSAGE = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """What reading one file may take; `refused_seconds` is what all files of a folder that are then refused may."""

    seconds: float = 120.0
    megabytes: int = 224
    refused_seconds: float = 600.0


class ApartReader:
    """One child for many files; a new one after each that broke. For one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None
        self._refused = 0.0

    @property
    def used_up(self) -> bool:
        """Whether refused files have cost twice their budget: then even a second for each further one is too much."""
        return self._refused > 2 * self._limits.refused_seconds

    def read(self, path: Path) -> Reading:
        """The documents of a file, and what was skipped. The child waits while nobody takes the next one."""
        done = False
        clock = _Clock(self._seconds())
        try:
            for value in self._messages(path, clock):
                if "end" in value:
                    done = True
                    return
                item = sandbox_child.item_of(value, shown(path))
                clock.refused = clock.refused and isinstance(item, Skipped)
                yield item
                if value.get("broken"):
                    return
        except _Broken as error:
            clock.refused = True
            yield Skipped(shown(path), str(error))
        finally:
            if clock.refused:
                self._refused += clock.spent
            if not done:
                self.close()

    def _seconds(self) -> float:
        """What the next file may take."""
        left = self._limits.refused_seconds - self._refused
        return min(self._limits.seconds, max(left, _LAST_SECONDS))

    def close(self) -> None:
        running, self._child = self._child, None
        if running is not None:
            running.kill()
            running.wait()
            for pipe in (running.stdin, running.stdout):
                with contextlib.suppress(OSError):  # what was not sent any more is not needed
                    if pipe:
                        pipe.close()

    def __enter__(self) -> ApartReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _messages(self, path: Path, clock: _Clock) -> Iterator[dict[str, object]]:
        running = self._child = self._child or self._start()
        assert running.stdin is not None
        try:
            running.stdin.write(os.fsencode(path).hex().encode() + b"\n")
            running.stdin.flush()
        except OSError as error:
            raise _Broken(_how_it_ended(running)) from error
        while True:
            before = time.monotonic()
            line = self._receive(running, clock.left)
            clock.spent += time.monotonic() - before
            if not line.endswith(b"\n"):
                raise _Broken(self._too_long(clock) if clock.left <= 0 else _how_it_ended(running))
            yield json.loads(line)

    def _too_long(self, clock: _Clock) -> str:
        said = f"Reading it takes longer than {clock.seconds:.3g} s"
        if clock.seconds < self._limits.seconds:
            said += f": refused files of this folder have taken {self._refused:,.0f} s"
        return f"{said}."

    def _receive(self, running: subprocess.Popen[bytes], seconds: float) -> bytes:
        """The next line; less than a line if the child ended, or was ended because it took too long."""
        assert running.stdout is not None
        alarm = threading.Timer(max(seconds, 0.0), running.kill)
        alarm.daemon = True
        alarm.start()
        try:
            return running.stdout.readline(_MOST_MESSAGE)
        finally:
            alarm.cancel()

    def _start(self) -> subprocess.Popen[bytes]:
        given = json.dumps([sys.path, self._limits.megabytes, self._limits.seconds])
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


class _Clock:
    """The seconds that a file may take, and has taken; `refused`: it brought no document, or broke its reader."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.spent = 0.0
        self.refused = True

    @property
    def left(self) -> float:
        return self.seconds - self.spent


class _Broken(Exception):
    """The child is gone, and why."""


def _how_it_ended(running: subprocess.Popen[bytes]) -> str:
    running.kill()
    code = running.wait()
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"The program that read it broke down ({name}): it is damaged, or made to do harm."
