"""The trace of a run: JSON Lines, written during the run, so that a run that fails leaves its events."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import re
import secrets
import select
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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


def _opened(path: Path) -> int:
    """The descriptor of a file, a terminal or a pipe that somebody reads. Raises OSError, also where a file holds
    something else than a trace, which writing one would destroy."""
    if not path.parent.is_dir():  # an existing folder keeps its mode, which is the user's choice
        private_folder(path.parent)
    given = str(path).startswith(OPENED_BY_SHELL)  # what it holds already is the shell's affair
    if path.is_file() and path.stat().st_size and not given:
        with path.open("rb") as file:
            if not _BEGINS.match(file.read(_BEGINNING_BYTES)):
                raise FileExistsError(errno.EEXIST, "it holds something else than a trace, and is kept", str(path))
    try:
        return private_descriptor(path, os.O_WRONLY | (os.O_APPEND if given else os.O_TRUNC))
    except OSError as error:
        if error.errno == errno.ENXIO:
            error.strerror = "it is a pipe or a socket that nobody reads"
        raise


def _write(descriptor: int, line: bytes) -> None:
    """Raises OSError, also where nobody reads from a pipe for PIPE_SECONDS."""
    rest = memoryview(line)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError as error:
            if not select.select([], [descriptor], [], PIPE_SECONDS)[1]:
                raise OSError(errno.EAGAIN, f"nobody read from it for {PIPE_SECONDS:.0f} s") from error


class Trace:
    """Writes events to one or more files. Safe to use from several threads; once closed, it drops events.

    `kept` is the package's own file of the run, `named` are the files that the user asked for: UsageError where one of
    them cannot be opened. A trace that cannot be written later (disk full) is given up with a warning: it must not cost
    the answer.
    """

    def __init__(self, run_id: str, named: Sequence[Path], kept: Path | None = None) -> None:
        self.run_id = run_id
        self._lock = threading.Lock()
        self._files: dict[Path, int] = {}
        try:
            for path in named:
                self._files[path] = _opened(path)
        except OSError as error:
            self.close()
            raise UsageError(
                f"The trace {path} cannot be written: {error.strerror}.", hint="Name another file."
            ) from error
        if kept:
            try:
                private_folder(home())
                private_folder(kept.parent)
                self._files[kept] = _opened(kept)
            except OSError as error:
                _log.warning("The trace %s is not written: %s.", kept, error.strerror)

    def write(self, event: str, **payload: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = to_json({"at": at, "event": event, **payload}, default=_plain) + "\n"
        with self._lock:
            for path, descriptor in tuple(self._files.items()):
                try:
                    _write(descriptor, line.encode("utf-8", "replace"))
                except OSError as error:
                    _log.warning("The trace %s is not continued: %s.", path, error.strerror)
                    os.close(self._files.pop(path))

    def close(self) -> None:
        with self._lock:
            for descriptor in self._files.values():
                os.close(descriptor)
            self._files = {}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
