"""Reads files in a child process with limits of memory and time.

PDFium, Lexbor and libxml2 are written in C and C++: a malicious file can crash them, keep them busy for ever or exhaust
the memory. In a child process that costs one file. The child reads paths from its input, writes documents to its output
as JSON Lines, and limits its own memory and time, so that it ends even when its parent is gone.
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
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Reading, format_in_folder, shown
from iterative_rag.types import Document

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Runs in isolated mode, so that nothing is imported from the working folder, then with the parent's own path.
_PROGRAM = """
import json, sys
paths, megabytes, seconds = json.loads(sys.argv[1])
sys.path[:] = paths
from iterative_rag.sources.formats.sandbox import serve
serve(megabytes, seconds)
"""
# For each file once the folder's budget is used up: enough for most files.
_LAST_SECONDS = 5.0
_MAX_MESSAGE = 128 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """For one file; `refused_seconds` is the budget for all files of a folder that are refused in the end."""

    seconds: float = 120.0
    megabytes: int = 224
    refused_seconds: float = 600.0


class ApartReader:
    """Reads many files in one child process, in a new one after each failure. For one thread at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: subprocess.Popen[bytes] | None = None
        self._refused = 0.0

    @property
    def used_up(self) -> bool:
        """Whether refused files have taken twice their budget."""
        return self._refused > 2 * self._limits.refused_seconds

    def read(self, path: Path) -> Reading:
        """The documents of a file, and what was skipped. The child waits until the next item is taken."""
        seconds = min(self._limits.seconds, max(self._limits.refused_seconds - self._refused, _LAST_SECONDS))
        spent, refused, done = 0.0, True, False
        running = self._child = self._child or self._start()
        try:
            _ask_for(path, running)
            while not done:
                before = time.monotonic()
                line = _received(running, seconds - spent)
                spent += time.monotonic() - before
                if not line.endswith(b"\n"):
                    refused = True
                    yield Skipped(shown(path), self._too_long(seconds) if spent >= seconds else _how_it_ended(running))
                    return
                value = json.loads(line)
                done = "end" in value
                if not done:
                    item = item_of(value, shown(path))
                    refused = refused and isinstance(item, Skipped)
                    yield item
                    if value.get("broken"):
                        return
        finally:
            if refused:
                self._refused += spent
            if not done:
                self.close()

    def close(self) -> None:
        running, self._child = self._child, None
        if running is not None:
            running.kill()
            running.wait()
            for pipe in (running.stdin, running.stdout):
                with contextlib.suppress(OSError):  # unsent data is not needed
                    if pipe:
                        pipe.close()

    def __enter__(self) -> ApartReader:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _too_long(self, seconds: float) -> str:
        reduced = seconds < self._limits.seconds
        why = f": refused files of this folder have taken {self._refused:,.0f} s" if reduced else ""
        return f"Reading it takes longer than {seconds:.3g} s{why}."

    def _start(self) -> subprocess.Popen[bytes]:
        given = json.dumps([sys.path, self._limits.megabytes, self._limits.seconds])
        return subprocess.Popen(
            [sys.executable, "-I", "-c", _PROGRAM, given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )


def _ask_for(path: Path, running: subprocess.Popen[bytes]) -> None:
    assert running.stdin is not None
    with contextlib.suppress(OSError):  # it has ended, which its reply says
        running.stdin.write(os.fsencode(path).hex().encode() + b"\n")
        running.stdin.flush()


def _received(running: subprocess.Popen[bytes], seconds: float) -> bytes:
    """The next line; less than a line if the child ended or was killed at the time limit."""
    assert running.stdout is not None
    alarm = threading.Timer(max(seconds, 0.0), running.kill)
    alarm.daemon = True
    alarm.start()
    try:
        return running.stdout.readline(_MAX_MESSAGE)
    finally:
        alarm.cancel()


def _how_it_ended(running: subprocess.Popen[bytes]) -> str:
    running.kill()
    code = running.wait()
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"The process that read it crashed ({name}): the file is damaged or malicious."


END = b'{"end": true}\n'


def serve(megabytes: int, seconds: float) -> None:
    """Read files until the input ends."""
    # Keep what libraries print out of the output.
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    # Allocated memory, not mapped: libraries reserve addresses that they never use.
    _limit("RLIMIT_DATA", megabytes * 1_000_000)
    _limit("RLIMIT_CORE", 0)
    for line in sys.stdin.buffer:
        # Processor time from now on; the parent watches the wall clock.
        _limit("RLIMIT_CPU", int(time.process_time() + seconds) + 2)
        path = os.fsdecode(bytes.fromhex(line.decode()))
        _answer(Path(path), output, megabytes)


def _answer(path: Path, output: BinaryIO, megabytes: int) -> None:
    form = format_in_folder(path.name)
    assert form is not None, path.name
    try:
        for item in form.read(path):
            _write(output, asdict(item))
    except OSError as error:
        _write(output, {"reason": f"It cannot be read: {error.strerror or error}."})
    except CorpusError as error:
        _write(output, {"reason": str(error)})
    except MemoryError:
        _write(output, {"reason": f"Reading it takes more than {megabytes} MB of memory.", "broken": True})
    except Exception as error:  # noqa: BLE001 - the boundary: whatever a parser raises costs one file, and is reported
        message = f"{type(error).__name__} {' '.join(str(error).split())[:120]}".rstrip(" .")
        _write(output, {"reason": f"Its reader failed: {message}.", "broken": True})
    output.write(END)
    output.flush()


def _write(output: BinaryIO, value: dict[str, object]) -> None:
    output.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
    output.flush()


def item_of(value: dict[str, object], source: str) -> Document | Skipped:
    """The item of a line of output. Raises a ValueError for any other JSON."""
    if "reason" in value:
        return Skipped(str(value.get("source", source)), str(value["reason"]))
    return _documents().validate_python(value)


@cache
def _documents() -> TypeAdapter[Document]:
    from pydantic import TypeAdapter

    return TypeAdapter(Document)


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
