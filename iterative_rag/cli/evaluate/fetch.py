"""`iterative-rag evaluate fetch`: a published dataset and its Wikipedia pages, into a corpus."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson, EmbedderSpec, Quiet
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.datasets.download import FetchReport, NotFound
    from iterative_rag.index.ingest import IngestReport

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
        typer.Option(metavar="MAIL_OR_URL", help="Sent to Wikipedia as its rules ask; remembered."),
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

    Interrupted or killed, the same command resumes; no page is fetched twice.
    """
    from iterative_rag.cli.fetch_progress import fetching_progress, index_into
    from iterative_rag.evaluation.datasets import download

    plan = download.FetchPlan(dataset, out or Path(dataset), source=source, limit=limit, contact=contact, api=api)
    with fetching_progress(quiet=quiet) as (advance, on_pause):
        report = download.fetch_dataset(plan, progress=advance, on_pause=on_pause)
    indexed = index_into([report.folder], corpus or dataset, embedder, quiet=quiet) if report.pages else None
    following = ["iterative-rag", "evaluate", "run", "--dataset", str(report.dataset), "--corpus", corpus or dataset]
    if as_json:
        _write_json(report, indexed, corpus or dataset, shlex.join(following))
    elif not quiet:
        _show(report, indexed, shlex.join(following))
    if report.failed:
        raise typer.Exit(4)


# --- output ----------------------------------------------------------------------------------


def _show(report: FetchReport, indexed: IngestReport | None, following: str) -> None:
    from iterative_rag.cli.console import err, out

    out().line(
        f"{counted(report.questions, 'question')}, {counted(report.links, 'link')}: "
        f"{counted(report.pages, 'page')} in {report.folder}, "
        f"{report.fetched:,} fetched now in {report.seconds:.0f} s, "
        f"{counted(len(report.redirects), 'redirect')} followed"
    )
    if report.missing:
        err().line(
            (
                f"{counted(len(report.missing), 'link has', 'links have')} no page (listed in {report.folder.parent}):",
                "yellow",
            )
        )
    for one in report.missing[:_SHOWN]:
        err().line(*_missing(one), indent="  ")
    if len(report.missing) > _SHOWN:
        err().line(f"… and {len(report.missing) - _SHOWN:,} more", indent="  ")
    if report.failed:
        err().line(
            (
                f"{counted(report.failed, 'page')} could not be fetched this time; the same command tries again.",
                "yellow",
            )
        )
    if indexed:
        out().line(
            f"{indexed.added:,} added, {indexed.changed:,} changed, {indexed.unchanged:,} unchanged, "
            f"{indexed.removed:,} removed; {counted(indexed.passages, 'passage')} embedded in {indexed.seconds:.1f} s"
        )
        out().line("Next: ", (following, "bold"))


def _missing(one: NotFound) -> tuple[tuple[str, str], str]:
    from iterative_rag.cli.console import clean

    meant = f" Near: {', '.join(one.nearest[:_NEAREST_SHOWN])}." if one.nearest else ""
    return (clean(one.asked), "bold"), " " + clean(f"({one.kind}) {one.reason}{meant}")


def _write_json(report: FetchReport, indexed: IngestReport | None, corpus: str, following: str) -> None:
    import dataclasses

    from iterative_rag.cli.console import write_json

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
    write_json(found)
