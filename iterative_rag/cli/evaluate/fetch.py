"""`iterative-rag evaluate fetch`: a published dataset and its Wikipedia pages, into a corpus."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson, EmbedderSpec, Quiet, settings_from

if TYPE_CHECKING:
    from iterative_rag.errors import FetchError
    from iterative_rag.evaluation.fetch import FetchProgress, FetchReport, NotFound
    from iterative_rag.ingest import IngestReport

PROGRESS_EVERY = 30.0  # seconds between two lines of progress where there is no terminal
_SHOWN = 20
_NEAREST_SHOWN = 3


def fetch(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="frames")],
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where it goes; the same command goes on there. Default: DATASET."),
    ] = None,
    corpus: Annotated[
        str, typer.Option(metavar="NAME", help="The corpus that the pages are indexed into. Default: DATASET.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the pages of the first N questions.")
    ] = None,
    contact: Annotated[
        str,
        typer.Option(metavar="MAIL_OR_URL", help="Named to Wikipedia, as it asks of robots; remembered in DIR."),
    ] = "",
    source: Annotated[str, typer.Option(metavar="URL_OR_FILE", help="The dataset's file, if not the published.")] = "",
    api: Annotated[
        str, typer.Option(metavar="URL", help="Another wiki's api.php; {language} stands for that of the link.")
    ] = "",
    embedder: EmbedderSpec = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Fetch a dataset and the Wikipedia pages that it links to, with their tables, and index them.

    Interrupted or killed, the same command goes on where it stopped; no page is fetched twice.
    """
    from iterative_rag.evaluation import fetch as fetching

    plan = fetching.FetchPlan(dataset, out or Path(dataset), source=source, limit=limit, contact=contact, api=api)
    try:
        with _progress(quiet=quiet) as (advance, on_pause):
            report = fetching.fetch_dataset(plan, progress=advance, on_pause=on_pause)
        indexed = _index(report, corpus or dataset, embedder, quiet=quiet) if report.pages else None
    except KeyboardInterrupt:
        from iterative_rag.cli.console import err

        err().line("Stopped. This goes on: ", (shlex.join(["iterative-rag", *sys.argv[1:]]), "bold"))
        raise
    following = ["iterative-rag", "evaluate", "run", "--dataset", str(report.dataset), "--corpus", corpus or dataset]
    if as_json:
        _write_json(report, indexed, corpus or dataset, shlex.join(following))
    elif not quiet:
        _show(report, indexed, shlex.join(following))
    if report.failed:
        raise typer.Exit(4)


def _index(report: FetchReport, corpus: str, embedder: str | None, *, quiet: bool) -> IngestReport:
    from iterative_rag.cli.progress import indexing
    from iterative_rag.factory import index_paths

    settings = settings_from(corpus=corpus, embedder=embedder)
    with indexing(quiet=quiet) as progress:
        return index_paths([report.folder], settings=settings, corpus=corpus, progress=progress)


# --- progress --------------------------------------------------------------------------------


@contextmanager
def _progress(
    *, quiet: bool
) -> Iterator[tuple[Callable[[FetchProgress], None] | None, Callable[[float, FetchError], None] | None]]:
    """A bar in a terminal, now and then a line elsewhere; and a line for every pause that is more than a moment."""
    import time

    from iterative_rag.cli.console import clean, err

    printer = err()

    def on_pause(seconds: float, error: FetchError) -> None:
        err().line((f"Waiting {seconds:.0f} s: {clean(str(error))}", "dim"))

    if quiet:
        yield None, None
    elif not printer.terminal:
        shown = [time.monotonic()]

        def now_and_then(at: FetchProgress) -> None:
            if time.monotonic() - shown[0] >= PROGRESS_EVERY:
                shown[0] = time.monotonic()
                err().line(where(at))

        yield now_and_then, on_pause
    else:
        from rich.progress import BarColumn, Progress, TextColumn

        columns = (TextColumn("fetching"), BarColumn(), TextColumn("{task.description}"))
        with Progress(*columns, console=printer.console, transient=True) as bars:
            task = bars.add_task("looking up titles", total=None)
            yield (
                lambda at: bars.update(task, completed=at.done, total=at.total, description=where(at)),
                lambda seconds, error: bars.console.print(f"Waiting {seconds:.0f} s: {clean(str(error))}", style="dim"),
            )


def where(at: FetchProgress) -> str:
    """`120 of 2,460 pages, 3 missing, 2.3/s, 17:02 left`"""
    parts = [f"{at.done:,} of {at.total:,} pages"]
    if at.missing:
        parts.append(f"{at.missing:,} missing")
    if at.fetched:
        parts.append(f"{at.per_second:.1f}/s")
    if at.seconds_left is not None:
        minutes, seconds = divmod(round(at.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)


# --- closing words ---------------------------------------------------------------------------


def _show(report: FetchReport, indexed: IngestReport | None, following: str) -> None:
    from iterative_rag.cli.console import err, out

    out().line(
        f"{report.questions:,} questions, {report.links:,} links: {report.pages:,} pages in {report.folder}, "
        f"{report.fetched:,} fetched now in {report.seconds:.0f} s, {len(report.redirects):,} redirects followed"
    )
    if report.missing:
        err().line((f"{len(report.missing):,} links have no page (listed in {report.folder.parent}):", "yellow"))
    for one in report.missing[:_SHOWN]:
        err().line(*_missing(one), indent="  ")
    if len(report.missing) > _SHOWN:
        err().line(f"… and {len(report.missing) - _SHOWN:,} more", indent="  ")
    if report.failed:
        err().line(
            (f"{report.failed:,} pages could not be had this time; the same command tries them again.", "yellow")
        )
    if indexed:
        out().line(
            f"{indexed.added:,} added, {indexed.changed:,} changed, {indexed.unchanged:,} unchanged, "
            f"{indexed.removed:,} removed; {indexed.passages:,} passages embedded in {indexed.seconds:.1f} s"
        )
        out().line("Next: ", (following, "bold"))


def _missing(one: NotFound) -> tuple[tuple[str, str], str]:
    from iterative_rag.cli.console import clean

    meant = f" Near: {', '.join(one.nearest[:_NEAREST_SHOWN])}." if one.nearest else ""
    return (clean(one.asked), "bold"), " " + clean(f"({one.kind}) {one.reason}{meant}")


def _write_json(report: FetchReport, indexed: IngestReport | None, corpus: str, following: str) -> None:
    import dataclasses
    import json

    from iterative_rag.cli.console import write

    found = {
        "dataset": str(report.dataset),
        "folder": str(report.folder),
        "corpus": corpus,
        "questions": report.questions,
        "links": report.links,
        "pages": report.pages,
        "fetched": report.fetched,
        "redirects": dict(report.redirects),
        "missing": [dataclasses.asdict(one) for one in report.missing],
        "failed": report.failed,
        "seconds": report.seconds,
        "indexed": {"added": indexed.added, "changed": indexed.changed, "unchanged": indexed.unchanged}
        if indexed
        else None,
        "next": following,
    }
    write(json.dumps(found, ensure_ascii=False, indent=2))
