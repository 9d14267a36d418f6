"""`index`: brings a corpus up to date, once or, with --watch, whenever the files have changed."""

from __future__ import annotations

import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.cli.console import clean, err, out, write_json
from iterative_rag.cli.live import indexing
from iterative_rag.cli.options import Quiet, RefusedSeconds, takes_settings
from iterative_rag.errors import IterativeRAGError, UsageError
from iterative_rag.registry import FORMATS, in_words
from iterative_rag.sources.metadata import told
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.index.ingest import DocumentChange, IngestReport
    from iterative_rag.protocols import Skipped
    from iterative_rag.settings import Settings
    from iterative_rag.sources.folder import States

ENGINES = ("local", "ray")
_SHOWN = 20
# After a fault that may pass by itself: a corpus that another process writes, a server that is down.
_RETRY_SECONDS = 5.0

Update = Callable[..., "IngestReport"]  # takes `progress` and `noticed`


@takes_settings(("corpus", "embedder", "index"))
def index(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help=f"Folders, or files: {in_words(FORMATS.names)}.")
    ],
    settings: Settings,
    engine: Annotated[str, typer.Option(metavar="NAME", help="What embeds: local, or ray (many machines).")] = "local",
    address: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="The Ray cluster; auto: this machine's; none: a new one here.")
    ] = "",
    refused_seconds: RefusedSeconds = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="Go on until it is stopped, and index what changes in the files.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Each event as one JSON object on a line of stdout.")] = False,
    quiet: Quiet = False,
) -> None:
    """Bring a corpus up to date with files and folders of them, in any mix of formats.

    A record of a .json or .jsonl file is {"title": ..., "text": ..., "url": ...} ("passage" does for "text"); a .json
    file may be SQuAD's as well. Web pages, PDF and Word files, and texts that are not UTF-8, need the extra "files".
    Only new and changed documents are embedded; those that are gone are removed.
    With --watch, files that are written, replaced or removed later are indexed once they have stopped changing, until
    Ctrl-C or SIGTERM ends the command with exit code 0. Between two updates the corpus is free for other commands.
    """
    from iterative_rag.app.factory import index_paths, make_embedder
    from iterative_rag.sources.folder import states_of
    from iterative_rag.system.threads import limit_arenas

    _check_engine(engine, address, watch=watch)
    limit_arenas()
    update = partial(
        index_paths,
        paths,
        settings=settings,
        embedder=make_embedder(settings.embedder, settings),
        ray=address if engine == "ray" else None,
        refused_seconds=refused_seconds,
    )
    teller = Teller(quiet=quiet, as_json=as_json)
    known = states_of(paths) if watch else {}
    with indexing(quiet=quiet) as progress:
        report = update(progress=progress)
    teller.first(report)
    if watch:
        _keep_in_step(paths, known, update, teller)


def _check_engine(engine: str, address: str, *, watch: bool) -> None:
    if engine not in ENGINES:
        raise UsageError(f"There is no engine {engine!r}.", hint=f"One of: {', '.join(ENGINES)}.")
    if address and engine != "ray":
        raise UsageError("--address is that of a Ray cluster.", hint="Add --engine ray.")
    if watch and engine == "ray":
        raise UsageError("--watch embeds in this process.", hint="Leave out --engine, or index without --watch.")


# --- what is told ----------------------------------------------------------------------------


def show_report(report: IngestReport, *, quiet: bool) -> None:
    _show_skipped([skipped for skipped in report.skipped if not skipped.extra])
    if not quiet:
        _show_counts(report)
    _show_left_out([skipped for skipped in report.skipped if skipped.extra])


def _show_skipped(skipped: Sequence[Skipped]) -> None:
    for item in skipped[:_SHOWN]:
        err().line(("skipped ", "yellow"), clean(f"{item.source}: {item.reason}"))
    if len(skipped) > _SHOWN:
        err().line((f"… and {len(skipped) - _SHOWN} more skipped", "yellow"))


def _show_counts(report: IngestReport) -> None:
    for path, root in report.covered:
        err().line(clean(f"{path} belongs to {root}, which this corpus holds: all of it was indexed."))
    rate = f", {report.passages / report.seconds:,.0f}/s" if report.passages and report.seconds else ""
    out().line(
        f"{report.added} added, {report.changed} changed, {report.unchanged} unchanged, {report.removed} removed, "
        f"{len(report.skipped)} skipped; {counted(report.passages, 'passage')} embedded in {report.seconds:.1f} s{rate}"
    )
    if report.not_read:
        err().line(("Not read: ", "yellow"), clean(f"{told(dict(report.not_read))}."))
    if report.notice:
        err().line(("Note: ", "yellow"), clean(report.notice))


def _show_left_out(left_out: Sequence[Skipped]) -> None:
    """What an extra would read: how many files of each kind, and the command that installs it."""
    from iterative_rag.errors import install_command

    for extra in dict.fromkeys(skipped.extra for skipped in left_out):
        kinds = Counter(Path(skipped.source).suffix.lower() for skipped in left_out if skipped.extra == extra)
        counts = ", ".join(f"{count:,} {kind}" for kind, count in kinds.most_common())
        err().line(("Left out: ", "yellow"), clean(f"{counts}."))
        err().line("To read them, type this and then the same command again:")
        err().command(install_command(extra), indent="  ")


class Teller:
    """Prints changes, a line each, on stdout, and everything else on stderr; `as_json` all of it as events, one object
    on a line of stdout (docs/commands.md lists them)."""

    def __init__(self, *, quiet: bool, as_json: bool) -> None:
        self._quiet, self._as_json = quiet, as_json
        self._skipped: set[Skipped] = set()

    def event(self, name: str, words: str = "", **fields: Any) -> None:
        if self._as_json:
            write_json({"event": name, **fields}, indent=None)
        elif words and not self._quiet:
            err().line((clean(words), "dim"))
        sys.stdout.flush()

    def first(self, report: IngestReport) -> None:
        if self._as_json:
            self.updated(report, ())
        else:
            show_report(report, quiet=self._quiet)
            self._skipped = set(report.skipped)

    def updated(self, report: IngestReport, changes: Sequence[DocumentChange]) -> None:
        skipped = [item for item in report.skipped if item not in self._skipped]
        self._skipped = set(report.skipped)
        for change in changes:
            self.event(change.kind, source=change.source)
        for item in skipped_as_json(skipped):
            self.event("skipped", **item)
        counts = {"seconds": report.seconds, "skipped": len(report.skipped)}
        self.event("updated", **report_as_json(report) | counts)
        if not self._as_json:
            for change in changes:
                out().line((f"{change.kind:<8}", "cyan"), clean(change.source))
            _show_skipped(skipped)

    def failed(self, error: IterativeRAGError) -> None:
        from iterative_rag.cli import say

        self.event("failed", message=str(error), hint=error.hint)
        if not self._as_json:
            say(f"{error} The corpus stays as it is.", error.hint)


def report_as_json(report: IngestReport) -> dict[str, Any]:
    """What --json tells of the indexing."""
    counts = {name: getattr(report, name) for name in ("added", "changed", "unchanged", "removed", "passages")}
    not_read = dict(report.not_read)
    seconds = round(report.seconds, 3)
    return {**counts, "seconds": seconds, "skipped": skipped_as_json(report.skipped), "not_read": not_read}


def skipped_as_json(skipped: Sequence[Skipped]) -> list[dict[str, str]]:
    return [{"source": item.source, "reason": item.reason} for item in skipped]


# --- index --watch ---------------------------------------------------------------------------


def _keep_in_step(paths: Sequence[Path], known: States, update: Update, teller: Teller) -> None:
    """Index whatever changes in the paths, until SIGINT or SIGTERM.

    The first time any fault has ended the command, as it does without --watch. Later ones are told, and the corpus
    stays as it is until the next change; after those that may pass by themselves it is tried again.
    """
    from iterative_rag.sources.folder import rest, settled_changes
    from iterative_rag.system.threads import RunStopped, stoppable

    stop = threading.Event()
    names, failed = [str(path) for path in paths], ""
    with _stopped_by_signals(stop), stoppable(stop):
        teller.event("watching", f"Watching {', '.join(names)}. Stop with Ctrl-C.", paths=names)
        while (states := settled_changes(paths, known, stop.is_set)) is not None:
            changes: list[DocumentChange] = []
            try:
                report = update(noticed=changes.append)
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
            known = states
        teller.event("stopped", "Stopped: what was indexed is kept.")


@contextmanager
def _stopped_by_signals(stop: threading.Event) -> Iterator[None]:
    """The first signal sets the event, which is looked at between documents; a second one does what it did before."""
    wanted = (signal.SIGINT, signal.SIGTERM)
    before = {each: signal.getsignal(each) for each in wanted if signal.getsignal(each) != signal.SIG_IGN}

    def restore() -> None:
        for each, handler in before.items():
            signal.signal(each, handler)

    def ask(number: int, frame: FrameType | None) -> None:
        restore()
        stop.set()

    for each in before:
        signal.signal(each, ask)
    try:
        yield
    finally:
        restore()
