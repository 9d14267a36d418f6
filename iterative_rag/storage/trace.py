"""The trace of a run: JSON Lines, written during the run, so that a run that fails leaves its events."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import re
import secrets
import select
import stat
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

from iterative_rag.errors import UsageError
from iterative_rag.settings import home
from iterative_rag.system.files import OPENED_BY_SHELL
from iterative_rag.system.private_files import private_descriptor, private_folder
from iterative_rag.text.control_characters import to_json

_BEGINS = re.compile(rb'\{"at": "\d{4}-\d\d-\d\dT[^"]*", "event": "')
_BEGINNING_BYTES = 100
PIPE_SECONDS = 5.0  # after which a pipe that nobody reads is given up
_log = logging.getLogger(__name__)


def trace_folder(*, evaluated: bool = False) -> Path:
    """Where runs leave their traces, one `<run id>.jsonl` each; those of `evaluate run` in a folder of their own."""
    return home() / "traces" / "evaluation" if evaluated else home() / "traces"


def new_run_id() -> str:
    """Sorts by time: `20250131-142501-3fa9c1`."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def event_name(step: type[Any]) -> str:
    """The name of a step's event: `AnalysisStep` -> "analysis"."""
    return step.__name__.removesuffix("Step").lower()


def _refuse_other(path: Path) -> None:
    """Raise OSError where the file holds something else than a trace, which writing one would destroy."""
    if path.is_file() and path.stat().st_size and not str(path).startswith(OPENED_BY_SHELL):
        with path.open("rb") as file:
            if not _BEGINS.match(file.read(_BEGINNING_BYTES)):
                raise FileExistsError(errno.EEXIST, "it holds something else than a trace, and is kept", str(path))


class _TraceFile:
    """A file, a terminal or a pipe that somebody reads."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self.path = path
        if not path.parent.is_dir():  # an existing folder keeps its mode, which is the user's choice
            private_folder(path.parent)
        _refuse_other(path)
        given = str(path).startswith(OPENED_BY_SHELL)  # what it holds already is the shell's affair
        try:
            self._descriptor = private_descriptor(path, os.O_WRONLY | (os.O_APPEND if given else os.O_TRUNC))
        except OSError as error:
            if error.errno == errno.ENXIO:
                raise OSError(errno.ENXIO, "it is a pipe or a socket that nobody reads", str(path)) from error
            raise
        if stat.S_ISBLK(os.fstat(self._descriptor).st_mode):
            self.close()
            raise OSError(errno.EINVAL, "it is a block device", str(path))

    def write(self, line: bytes) -> None:
        """Raises OSError, also where nobody reads from a pipe for PIPE_SECONDS."""
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except BlockingIOError as error:
                if not select.select([], [self._descriptor], [], PIPE_SECONDS)[1]:
                    raise OSError(
                        errno.EAGAIN, f"nobody read from it for {PIPE_SECONDS:.0f} s", str(self.path)
                    ) from error

    def close(self) -> None:
        os.close(self._descriptor)

    def remove_empty(self) -> None:
        """Remove a file without any event: it would be taken for the last run."""
        if self.path.is_file() and not self.path.stat().st_size:
            self.path.unlink()


class Listener(Protocol):
    """What else is told the events of a trace. Called from several threads; it raises nothing and returns at once."""

    def event(self, name: str, payload: Mapping[str, Any]) -> None:
        """An event, just after it happened."""
        ...

    def close(self) -> None:
        """There will be no more."""
        ...


class Trace:
    """Writes events to one or more files. Safe to use from several threads; once closed, it drops events.

    `kept` is the package's own file of the run, `named` are the files that the user asked for: UsageError where one of
    them cannot be opened. A trace that cannot be written later (disk full) is given up with a warning: it must not cost
    the answer.
    """

    def __init__(
        self, run_id: str, named: Sequence[Path], kept: Path | None = None, listener: Listener | None = None
    ) -> None:
        self.run_id = run_id
        self._listener = listener
        self._lock = threading.Lock()
        self._files: list[_TraceFile] = []
        try:
            for path in named:
                self._files.append(_TraceFile(path))
        except OSError as error:
            self.close()
            raise UsageError(
                f"The trace {path} cannot be written: {error.strerror}.", hint="Name another file."
            ) from error
        if kept:
            try:
                private_folder(home())
                private_folder(kept.parent)
                self._files.append(_TraceFile(kept))
            except OSError as error:
                _log.warning("The trace %s is not written: %s.", kept, error.strerror)

    def write(self, event: str, **payload: Any) -> None:
        if self._listener:
            self._listener.event(event, payload)
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = to_json({"at": at, "event": event, **payload}, default=_plain) + "\n"
        with self._lock:
            for file in tuple(self._files):
                try:
                    file.write(line.encode("utf-8", "replace"))
                except OSError as error:
                    _log.warning("The trace %s is not continued: %s.", file.path, error.strerror)
                    self._files.remove(file)
                    file.close()
                    file.remove_empty()

    def close(self) -> None:
        if self._listener:
            self._listener.close()
        with self._lock:
            for file in self._files:
                file.close()
            self._files = []


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
