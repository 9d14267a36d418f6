"""Shared by the commands that fetch pages: progress, pauses, and the indexing that follows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.errors import FetchError
    from iterative_rag.index.ingest import IngestReport
    from iterative_rag.protocols import Skipped
    from iterative_rag.sources.wikipedia.article_fetching import FetchProgress

PROGRESS_EVERY = 30.0  # seconds between two lines of progress where there is no terminal


# --- progress --------------------------------------------------------------------------------


@contextmanager
def fetching_progress(
    *, quiet: bool
) -> Iterator[tuple[Callable[[FetchProgress], None] | None, Callable[[float, FetchError], None] | None]]:
    """Callbacks for progress and pauses: a bar in a terminal, a line every 30 seconds elsewhere."""
    import time

    from iterative_rag.cli.console import err
    from iterative_rag.cli.progress import bar

    if quiet:
        yield None, None
        return
    shown = [time.monotonic()]

    def occasionally(at: FetchProgress) -> None:
        if time.monotonic() - shown[0] >= PROGRESS_EVERY:
            shown[0] = time.monotonic()
            err().line(", ".join(where(at)))

    with bar() as show:
        if show is None:
            yield occasionally, say_pause
        else:
            show(0, None, lambda: ["looking up titles"])
            yield lambda at: show(at.done, at.total, lambda: where(at, "fetching ")), say_pause


@contextmanager
def naming_private_hosts(allowed: bool) -> Iterator[None]:
    """Adds to the refusal of a host that is not public how to allow it, unless that was done."""
    from iterative_rag.errors import HostNotPublic

    try:
        yield
    except HostNotPublic as error:
        if allowed:
            raise
        hint = f"{error.hint} A wiki on your own network: --allow-private-hosts"
        raise HostNotPublic(str(error), hint=hint) from error


def say_pause(seconds: float, error: FetchError) -> None:
    from iterative_rag.cli.console import clean, err

    err().line((f"Waiting {seconds:.0f} s: {clean(str(error))}", "dim"))


def where(at: FetchProgress, doing: str = "") -> list[str]:
    """`120 of 2,460 pages`, `3 missing`, `2.3/s`, `17:02 left`"""
    from iterative_rag.cli.progress import time_left

    parts = [f"{doing}{at.done:,} of {counted(at.total, 'page')}"]
    if at.missing:
        parts.append(f"{at.missing:,} missing")
    if at.fetched:
        parts.append(f"{at.per_second:.1f}/s")
    if at.seconds_left is not None:
        parts.append(time_left(at.seconds_left))
    return parts


def index_into(paths: Sequence[Path], corpus: str, embedder: str | None, *, quiet: bool) -> IngestReport:
    """Update the corpus from folders and files, with a progress bar."""
    from iterative_rag.app.factory import index_paths
    from iterative_rag.cli.options import settings_from
    from iterative_rag.cli.progress import indexing

    settings = settings_from(corpus=corpus, embedder=embedder)
    with indexing(quiet=quiet) as progress:
        return index_paths(paths, settings=settings, corpus=corpus, progress=progress)


def corpus_to_fill(given: str | None) -> str:
    """The corpus to fill; its name is checked before anything is fetched."""
    from iterative_rag.app.factory import DEFAULT_CORPUS, pages_folder
    from iterative_rag.cli.options import settings_from

    name = given or settings_from().corpus or DEFAULT_CORPUS
    pages_folder(name)
    return name


def report_as_json(report: IngestReport | None) -> dict[str, object] | None:
    """The indexing report for --json; None if nothing was indexed."""
    if report is None:
        return None
    return {
        "added": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "removed": report.removed,
        "passages": report.passages,
        "seconds": round(report.seconds, 3),
        "skipped": skipped_as_json(report.skipped),
        "not_read": dict(report.not_read),
    }


def skipped_as_json(skipped: Sequence[Skipped]) -> list[dict[str, str]]:
    return [{"source": one.source, "reason": one.reason} for one in skipped]
