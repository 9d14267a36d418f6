"""The trace of a run: JSON Lines, written during the run, so that a run that fails leaves its events."""

from __future__ import annotations

import dataclasses
import logging
import os
import secrets
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from iterative_rag.errors import UsageError
from iterative_rag.settings import home
from iterative_rag.system.files import open_private, private_folder
from iterative_rag.text.control_characters import to_json

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


def _opened(path: Path) -> TextIO:
    """A file, a terminal or a pipe that somebody reads, emptied. Raises OSError."""
    if not path.parent.is_dir():  # an existing folder keeps its mode, which is the user's choice
        private_folder(path.parent)
    trace = open_private(path)
    os.set_blocking(trace.fileno(), True)  # writing waits for whoever reads a pipe
    return trace


class Trace:
    """Writes events to one or more files. Safe to use from several threads; once closed, it drops events.

    `kept` is the package's own file of the run, `named` are the files that the user asked for: UsageError where one of
    them cannot be opened. A trace that cannot be written later (disk full) is given up with a warning: it must not cost
    the answer.
    """

    def __init__(self, run_id: str, named: Sequence[Path], kept: Path | None = None) -> None:
        self.run_id = run_id
        self._lock = threading.Lock()
        self._files: dict[Path, TextIO] = {}
        try:
            for path in named:
                self._files[path] = _opened(path)
        except OSError as error:
            self.close()
            told = f"The trace {path} cannot be written: {error.strerror}."
            raise UsageError(told, hint="Name another file.") from error
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
            for path, file in tuple(self._files.items()):
                try:
                    file.write(line)
                    file.flush()
                except OSError as error:
                    _log.warning("The trace %s is not continued: %s.", path, error.strerror)
                    with suppress(OSError):  # the rest of its line cannot be written either
                        self._files.pop(path).close()

    def close(self) -> None:
        with self._lock:
            for file in self._files.values():
                file.close()
            self._files = {}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
