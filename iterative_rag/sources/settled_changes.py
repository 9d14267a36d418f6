"""Waits until files have changed, and have stopped changing.

The files are looked at now and then rather than watched by the operating system: notices of the system (watchfiles,
inotify) do not come from network drives and shared folders of containers, are limited in number, and miss the targets
of links.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.sources.folder import FileState, Folder

States = dict[str, FileState]


LOOK_SECONDS = 0.5  # between two looks
SETTLE_SECONDS = 1.0  # without a change before files count as settled


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


def settled_changes(paths: Sequence[Path], known: States, stopped: Callable[[], bool]) -> States | None:
    """The states once they differ from `known` and have settled; None when it was `stopped` before."""
    last, since = known, time.monotonic()
    while not stopped():
        now = states_of(paths)
        if now != last:
            last, since = now, time.monotonic()
        elif now != known and time.monotonic() - since >= SETTLE_SECONDS:
            return now
        rest(LOOK_SECONDS, stopped)
    return None


def rest(seconds: float, stopped: Callable[[], bool]) -> None:
    """Sleep, but no longer than until it is `stopped`."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopped():
        time.sleep(min(left, 0.1))
