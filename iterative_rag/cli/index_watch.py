"""`index --watch`: brings the corpus up to date whenever the files have changed, and tells each change."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from iterative_rag.cli.progress import indexing
from iterative_rag.errors import IterativeRAGError

if TYPE_CHECKING:
    from iterative_rag.index.ingest import DocumentChange, IngestReport
    from iterative_rag.protocols import Skipped

# After a fault that may pass by itself: a corpus that another process writes, a server that is down.
_RETRY_SECONDS = 5.0
_SHOWN = 20

Update = Callable[..., "IngestReport"]  # takes `progress`, `noticed` and `may_be_empty`


def keep_in_step(paths: Sequence[Path], update: Update, teller: Teller, *, quiet: bool) -> None:
    """Index the paths, then whatever changes in them, until SIGINT or SIGTERM.

    The first time any fault ends the command, as it does without --watch. Later ones are told, and the corpus stays as
    it is until the next change; after those that may pass by themselves it is tried again.
    """
    from iterative_rag.sources.settled_changes import rest, settled_changes, states_of
    from iterative_rag.system.cancellation import RunStopped, stoppable

    known, devices = states_of(paths), _devices(paths)
    with indexing(quiet=quiet) as progress:
        report = update(progress=progress)
    teller.first(report)
    stop = threading.Event()
    with _stopped_by_signals(stop), stoppable(stop):
        teller.watching(paths)
        failed = ""
        while (found := settled_changes(paths, known, stop.is_set)) is not None:
            changes: list[DocumentChange] = []
            try:
                report = update(noticed=changes.append, may_be_empty=_devices(paths) == devices)
            except RunStopped:
                break
            except IterativeRAGError as error:
                if str(error) != failed:
                    teller.failed(error)
                failed = str(error)
                if error.retryable:
                    rest(_RETRY_SECONDS, stop.is_set)
                    continue
            else:
                failed = ""
                teller.updated(report, changes)
            known = found
        teller.stopped()


def _devices(paths: Sequence[Path]) -> list[int | None]:
    """The device of each path. It changes where a drive is unmounted: its folder is empty, but nothing was deleted."""
    return [path.stat().st_dev if path.exists() else None for path in paths]


@contextmanager
def _stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """The first signal sets the event, which is looked at between documents; a second one ends the process."""

    def leave(number: int, frame: FrameType | None) -> None:
        os._exit(128 + number)

    def ask(number: int, frame: FrameType | None) -> None:
        for each in before:
            signal.signal(each, leave)
        stop.set()

    wanted = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.getsignal(each) for each in wanted if signal.getsignal(each) != signal.SIG_IGN}
    for each in before:
        signal.signal(each, ask)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


class Teller:
    """Prints changes, a line each, on stdout, and everything else on stderr."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._skipped: set[Skipped] = set()

    def first(self, report: IngestReport) -> None:
        from iterative_rag.cli.index_search_show import show_report

        show_report(report, quiet=self._quiet)
        self._skipped = set(report.skipped)

    def watching(self, paths: Sequence[Path]) -> None:
        self._note(f"Watching {', '.join(map(str, paths))}. Stop with Ctrl-C.")

    def updated(self, report: IngestReport, changes: Sequence[DocumentChange]) -> None:
        from iterative_rag.cli.console import clean, err, out

        for change in changes[:_SHOWN]:
            out().line((f"{change.kind:<8}", "cyan"), clean(change.source))
        if len(changes) > _SHOWN:
            out().line(f"… and {len(changes) - _SHOWN:,} more")
        for skipped in self._newly_skipped(report):
            err().line(("skipped ", "yellow"), clean(f"{skipped.source}: {skipped.reason}"))
        sys.stdout.flush()

    def failed(self, error: IterativeRAGError) -> None:
        from iterative_rag.cli import say

        say(f"{error} The corpus stays as it is.", error.hint)

    def stopped(self) -> None:
        self._note("Stopped: what was indexed is kept.")

    def _note(self, text: str) -> None:
        from iterative_rag.cli.console import clean, err

        sys.stdout.flush()
        if not self._quiet:
            err().line((clean(text), "dim"))

    def _newly_skipped(self, report: IngestReport) -> list[Skipped]:
        new = [skipped for skipped in report.skipped if skipped not in self._skipped]
        self._skipped = set(report.skipped)
        return new


class JsonTeller(Teller):
    """Writes events as JSON Lines on stdout; docs/commands.md lists them."""

    def __init__(self) -> None:
        super().__init__(quiet=True)

    def first(self, report: IngestReport) -> None:
        self._skips_and_counts(report)

    def watching(self, paths: Sequence[Path]) -> None:
        _event("watching", paths=[str(path) for path in paths])

    def updated(self, report: IngestReport, changes: Sequence[DocumentChange]) -> None:
        for change in changes:
            _event(change.kind, source=change.source)
        self._skips_and_counts(report)

    def failed(self, error: IterativeRAGError) -> None:
        _event("failed", message=str(error), hint=error.hint)

    def stopped(self) -> None:
        _event("stopped")

    def _skips_and_counts(self, report: IngestReport) -> None:
        for skipped in self._newly_skipped(report):
            _event("skipped", source=skipped.source, reason=skipped.reason)
        counts = asdict(report)
        kept = ("added", "changed", "unchanged", "removed", "passages", "seconds")
        told = {name: counts[name] for name in kept} | {"not_read": dict(report.not_read)}
        _event("updated", **told, skipped=len(report.skipped))


def _event(name: str, **fields: Any) -> None:
    from iterative_rag.cli.console import write_json

    write_json({"event": name, **fields}, indent=None)
    sys.stdout.flush()
