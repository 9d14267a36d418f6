"""Waits until files have changed, and have stopped changing.

The files are looked at now and then rather than watched by the operating system: notices of the system (watchfiles,
inotify) do not come from network drives and shared folders of containers, are limited in number, and miss the targets
of links. What a look costs bounds how often one is taken.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.sources.folder import FileState, Folder

States = dict[str, FileState]


@dataclass(frozen=True, slots=True)
class Pace:
    """In seconds: between two looks, without a change before files count as settled, and of changes without a pause
    until what there is counts. A look takes no more than `share` of the time."""

    look: float = 0.5
    settle: float = 1.0
    longest: float = 30.0
    share: float = 0.05


def states_of(paths: Sequence[Path]) -> States:
    """The states of all files below the paths; of a path that cannot be read, why."""
    states: States = {}
    for path in paths:
        folder = Folder(path)
        try:
            states |= folder.states()
        except CorpusError as error:
            states[folder.root] = str(error)
    return states


def settled_changes(
    paths: Sequence[Path], known: States, stopped: Callable[[], bool], pace: Pace | None = None
) -> States | None:
    """The states once they differ from `known` and have settled; None when it was `stopped` before."""
    pace = pace or Pace()
    last, since, first = known, 0.0, 0.0
    while not stopped():
        began = time.monotonic()
        now = states_of(paths)
        if now == known:
            first = 0.0
        elif now != last or not first:
            since, first = began, first or began
        if first and (began - since >= pace.settle or began - first >= pace.longest):
            return now
        last = now
        rest(max(pace.look, (time.monotonic() - began) / pace.share), stopped)
    return None


def rest(seconds: float, stopped: Callable[[], bool]) -> None:
    """Sleep, but no longer than until it is `stopped`."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopped():
        time.sleep(min(left, 0.1))
