"""The trace of a run: JSON Lines, written while the run goes on, so that a run that fails leaves all it did."""

from __future__ import annotations

import dataclasses
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.settings import home

_log = logging.getLogger(__name__)


def trace_folder() -> Path:
    """Where runs leave their traces, one `<run id>.jsonl` each."""
    return home() / "traces"


def new_run_id() -> str:
    """Sorts by time: `20250131-142501-3fa9c1`."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def event_name(step: type[Any]) -> str:
    """`AnalysisStep` -> "analysis": what a step's event is called."""
    return step.__name__.removesuffix("Step").lower()


class Trace:
    """Writes events to one or more files. Safe to use from several threads; closed, it drops what comes late.

    A trace that cannot be written (disk full) is given up with one warning: it must not cost the answer.
    """

    def __init__(self, run_id: str, files: Sequence[Path]) -> None:
        self.run_id = run_id
        self._lock = threading.Lock()
        self._streams = []
        for path in files:
            try:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            except OSError as error:
                raise UsageError(
                    f"The trace {path} cannot be written: {error.strerror}.", hint="Name another file."
                ) from error
            self._streams.append(os.fdopen(descriptor, "w", encoding="utf-8"))

    def write(self, event: str, **payload: Any) -> None:
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": at, "event": event, **payload}, default=_plain, ensure_ascii=False) + "\n"
        with self._lock:
            for stream in tuple(self._streams):
                try:
                    stream.write(line)
                    stream.flush()
                except OSError as error:
                    _log.warning("The trace is given up: %s.", error)
                    self._streams.remove(stream)

    def close(self) -> None:
        with self._lock:
            for stream in self._streams:
                stream.close()
            self._streams = []


def read_trace(run: str = "last") -> list[dict[str, Any]]:
    """The events of a run, by its id or an unambiguous beginning of it, or of the last one."""
    folder = trace_folder()
    files = sorted(folder.glob("*.jsonl")) if folder.is_dir() else []
    if not files:
        raise UsageError("There is no trace yet.", hint='Ask something first: iterative-rag ask "QUESTION"')
    chosen = files[-1:] if run == "last" else [path for path in files if path.stem.startswith(run)]
    if len(chosen) != 1:
        known = ", ".join(path.stem for path in files[-3:])
        what = "No run" if not chosen else "More than one run"
        raise UsageError(f"{what} has an id that begins with {run!r}.", hint=f"The last ones are {known}.")
    events = []
    for line in chosen[0].read_text(encoding="utf-8").splitlines():
        try:
            events.append(json.loads(line))
        except json.JSONDecodeError:  # the line that was being written when the process was killed
            events.append({"event": "unreadable", "line": line})
    return events


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)
