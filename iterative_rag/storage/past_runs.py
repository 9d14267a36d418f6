"""The runs of the past, as their traces tell: listed, searched, read again, deleted.

There is no index on the disk: what a list shows stands in the first and the last line of each trace, so that it can
never differ from them. A trace may have been written by another version or cut off by a kill, and is input like any
other: what cannot be read is described as damaged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, get_args

from iterative_rag.errors import UsageError
from iterative_rag.storage.trace import event_name, trace_folder
from iterative_rag.system.files import json_value, readable
from iterative_rag.types import Answer, FinalStep, Step

if TYPE_CHECKING:  # pydantic is not needed for a list of runs
    from pydantic import TypeAdapter

Event = Mapping[str, Any]

LAST = "last"
UNREADABLE = "unreadable"
_LIST = "List them: iterative-rag history"
# By Ctrl-C, or by whoever runs it on a thread of its own.
_STOPPED = ("KeyboardInterrupt", "RunStopped")
# A question has up to 8,000 characters, and the settings follow it.
_MOST_HEAD = 256 * 1024
# An answer with the facts of every hop; those of long runs with an LLM take up to 1 MB.
_MOST_FINAL = 64 * 1024 * 1024
_BLOCK = 64 * 1024
# Of a text without a short answer; several paragraphs do not fit into a list.
_MOST_SHOWN = 200


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run. `first` and `last` are its first and its last event, {} where that cannot be read."""

    run_id: str
    path: Path
    first: Event
    last: Event

    @property
    def question(self) -> str:
        return _text(self.first.get("question"))

    @property
    def at(self) -> datetime | None:
        """When it was asked, in local time."""
        try:
            return datetime.fromisoformat(_text(self.first.get("at"))).astimezone()
        except (ValueError, OverflowError, OSError):
            return None

    @property
    def status(self) -> str:
        """That of the answer, or "failed" (an error ended the run), "stopped" (by the user), "unfinished" (it was
        killed, or still goes on) or "damaged"."""
        if not self.first:
            return "damaged"
        match self.last.get("event"):
            case "final":
                return self.told("status") or "damaged"
            case "fault":
                return "stopped" if self.last.get("error") in _STOPPED else "failed"
            case "left":
                return "stopped"
        return "unfinished"

    @property
    def answer(self) -> Event:
        """The answer in plain types, {} where there is none."""
        return _object(self.last.get("answer"))

    def told(self, name: str) -> str:
        """A text of the answer, such as its `reason_code`; "" where there is none."""
        return _text(self.answer.get(name))

    @property
    def short_answer(self) -> str:
        """The value, or how a text without one begins: lists of runs show it."""
        return self.told("short_answer") or _beginning(self.told("text"))

    @property
    def reason(self) -> str:
        """Why there is no answer."""
        return self.told("reason") or _text(self.last.get("message"))

    @property
    def corpus(self) -> str:
        return _text(_object(self.first.get("settings")).get("corpus"))

    @property
    def backend(self) -> str:
        """The model, or "builtin"."""
        return _text(self.first.get("backend"))

    @property
    def usage(self) -> Event:
        return _object(self.answer.get("usage"))


def past_runs(words: str = "") -> Iterator[PastRun]:
    """The runs whose question or answer holds all the words, the newest first."""
    wanted = words.casefold().split()
    for path in trace_files():
        try:
            run = read_run(path)
        except FileNotFoundError:  # deleted meanwhile
            continue
        text = f"{run.question}\n{run.short_answer}\n{run.told('text')}".casefold()
        if all(word in text for word in wanted):
            yield run


def find_runs(name: str) -> list[PastRun]:
    """The runs that are meant by "last", the beginning of an id, or words of the question or answer, the newest first.
    Raises UsageError where there is none."""
    runs = [read_run(path) for path in _of_id(name)] or (list(past_runs(name)) if name.split() else [])
    if not runs:
        told = f"No run has an id that begins with {name!r}, or these words in its question or answer."
        raise UsageError(told, hint=_LIST)
    return runs


def run_of_id(name: str) -> PastRun:
    """The run of an id, the beginning of one, or "last". Raises UsageError where it is none or more than one."""
    paths = _of_id(name)
    if len(paths) != 1:
        number = "More than one" if paths else "No"
        raise UsageError(f"{number} run has an id that begins with {name!r}.", hint=_LIST)
    return read_run(paths[0])


def _of_id(name: str) -> list[Path]:
    """The traces of this id, also those of an evaluation."""
    files = [*trace_files(), *trace_files(evaluated=True)]
    return files[:1] if name == LAST else [path for path in files if path.stem.startswith(name)]


def events_of(run: PastRun) -> list[Event]:
    """All events of a run, in the order in which they happened. Raises OSError."""
    with readable(run.path).open("rb") as file:
        return [_event(line) or {"event": UNREADABLE} for line in file]


def delete(runs: Sequence[PastRun]) -> None:
    """Remove the traces. Raises OSError."""
    for run in runs:
        run.path.unlink(missing_ok=True)


# --- events back to steps ------------------------------------------------------------------------


def step_of(event: Event) -> Step | None:
    """The step that an event holds, or None for an event that is no step or a damaged one. Fields that an older version
    did not write have their defaults."""
    from pydantic import ValidationError

    kind = _step_types().get(_text(event.get("event")))
    if kind is None:
        return None
    try:
        step: Step = _adapter(kind).validate_python(dict(event))
    except ValidationError:
        return None
    return step


def answer_of(run: PastRun) -> Answer:
    """The answer that a run ended with. Raises UsageError where it has none."""
    step = step_of(run.last)
    if isinstance(step, FinalStep):
        return step.answer
    status = "damaged" if run.last.get("event") == "final" else run.status
    why = f" ({run.reason})" if run.reason else ""
    told = f"The run {run.run_id} has no answer: it is {status}{why}."
    raise UsageError(told, hint=f"iterative-rag trace {run.run_id}")


def is_step(event: Event) -> bool:
    """Whether an event is that of a step, damaged or not."""
    return _text(event.get("event")) in _step_types()


@cache
def _step_types() -> dict[str, Any]:
    return {event_name(step): step for step in get_args(Step)}


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


# --- reading -------------------------------------------------------------------------------------


def trace_files(*, evaluated: bool = False) -> list[Path]:
    """The traces, the newest first: their names begin with the time."""
    return sorted(trace_folder(evaluated=evaluated).glob("*.jsonl"), reverse=True)


def read_run(path: Path) -> PastRun:
    """The run of a trace. Raises FileNotFoundError."""
    try:
        with readable(path).open("rb") as file:
            first, last = _event(file.readline(_MOST_HEAD)), _event(_last_line(file))
    except FileNotFoundError:
        raise
    except OSError:
        first, last = {}, {}
    return PastRun(path.stem, path, first if first.get("event") == "run_started" else {}, last)


def _last_line(file: IO[bytes]) -> bytes:
    """The last line, b"" where it is too long to be one of ours; only the end of the file is read."""
    end = file.seek(0, os.SEEK_END)
    for size in (_BLOCK, 16 * _BLOCK, _MOST_FINAL):
        start = file.seek(max(0, end - size))
        _, before, line = file.read(end - start).rstrip(b"\n").rpartition(b"\n")
        if before or start == 0:
            return line
    return b""


def _event(line: bytes) -> Event:
    """The event of a line, {} where it cannot be read."""
    try:
        return _object(json_value(line))
    except ValueError:  # cut off, or made by somebody else
        return {}


def _object(value: object) -> Event:
    return value if isinstance(value, dict) else {}


def _beginning(text: str) -> str:
    """The first line of a text that is no heading, cut where it is long."""
    line = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return line if len(line) <= _MOST_SHOWN else f"{line[:_MOST_SHOWN].rstrip()} …"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
