"""`iterative-rag evaluate fetch` and `evaluate frames`: a published dataset with its Wikipedia pages, and FRAMES from
questions and pages to a report in one command. Both resume."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, out
from iterative_rag.cli.corpus.add import index_into
from iterative_rag.cli.evaluate.run import (
    Concurrency,
    JudgeSpec,
    Limit,
    ModeName,
    RetryErrors,
    RunOut,
    known_mode,
    run_with_progress,
    show_summary,
    write_reports,
)
from iterative_rag.cli.live import fetching
from iterative_rag.cli.options import MEASURED, AllowPrivateHosts, AsJson, Contact, Quiet, WikiApi, takes_settings
from iterative_rag.errors import FetchError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.download import FetchPlan
    from iterative_rag.settings import Settings

Published = Annotated[str, typer.Option(metavar="URL_OR_FILE", help="The dataset's file, if not the published.")]


@takes_settings(("embedder",))
def fetch(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="frames")],
    settings: Settings,
    out_dir: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where it goes; the same command goes on there. Default: DATASET."),
    ] = None,
    corpus: Annotated[
        str, typer.Option(metavar="NAME", help="The corpus that the pages are indexed into. Default: DATASET.")
    ] = "",
    limit: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Only the pages of the first N questions.")
    ] = None,
    contact: Contact = "",
    source: Published = "",
    api: WikiApi = "",
    quiet: Quiet = False,
) -> None:
    """Fetch a dataset and the Wikipedia pages that it links to, with their tables, and index them.

    Interrupted or killed, the same command resumes; no page is fetched twice.
    """
    from iterative_rag.evaluation.download import FetchPlan

    plan = FetchPlan(dataset, out_dir or Path(dataset), source=source, limit=limit, contact=contact, api=api)
    questions, pages = _data(plan, None, quiet=quiet)
    name = corpus or dataset
    index_into([pages], name, settings, quiet=quiet)
    command = ["iterative-rag", "evaluate", "run", "--dataset", str(questions), "--corpus", name]
    if not quiet:
        out().line("Next: ", (shlex.join(command), "bold"))


@takes_settings(MEASURED)
def frames(
    settings: Settings,
    subset: Annotated[
        str, typer.Option(metavar="60|all|FILE", help="60: a list that ships with the package; FILE: ids, one a line.")
    ] = "60",
    limit: Limit = None,
    pages: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A file or folder of pages, as for `index`; else they are fetched."),
    ] = None,
    questions: Published = "",
    data: Annotated[Path, typer.Option(metavar="DIR", help="Where questions and pages are fetched to.")] = Path(
        "frames"
    ),
    corpus: Annotated[str, typer.Option(metavar="NAME", help="The corpus that the pages are indexed into.")] = "frames",
    out: RunOut = None,
    mode: ModeName = "auto",
    judge: JudgeSpec = "",
    concurrency: Concurrency = 4,
    contact: Contact = "",
    api: WikiApi = "",
    allow_private_hosts: AllowPrivateHosts = False,
    retry_errors: RetryErrors = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run FRAMES from nothing to a report: get the questions and their Wikipedia pages, index them, ask, compare.

    Interrupted or killed, the same command goes on where it was: no page is fetched, no passage embedded and no
    question asked twice. The report stands in the folder of the run, beside the published figures.
    """
    from iterative_rag.evaluation.download import FetchPlan
    from iterative_rag.evaluation.preparation import RunConfig, judging_model
    from iterative_rag.evaluation.report_tables import Report
    from iterative_rag.evaluation.run_folder import need_inspect

    need_inspect()  # what cannot work is told before pages are fetched for hours
    asked_by = known_mode(mode)
    judging_model(judge, settings)
    plan = FetchPlan("frames", data, questions, limit, contact, api, subset, allow_private_hosts)
    dataset, articles = _data(plan, pages, quiet=quiet)
    index_into([articles], corpus, settings, quiet=quiet)
    config = RunConfig(
        dataset=dataset,
        corpus=corpus,
        mode=asked_by,
        settings=settings,
        judge=judge,
        limit=limit,
        concurrency=concurrency,
        frames=subset,
    )
    name = re.sub(r"[^\w.-]+", "-", f"frames-{Path(subset).stem}-{settings.llm}")
    run = run_with_progress(config, out or Path("runs") / name, retry_errors=retry_errors, quiet=quiet)
    reported = Report.of(run)
    write_reports(reported, quiet=quiet)
    show_summary(reported, as_json=as_json)


def _data(plan: FetchPlan, pages: Path | None, *, quiet: bool) -> tuple[Path, Path]:
    """The file of questions and the folder or file of pages: fetched, unless they are given."""
    from iterative_rag.evaluation.download import MISSING, fetch_dataset, fetch_questions

    with fetching(quiet=quiet) as (advance, on_pause):
        if pages is not None:
            return fetch_questions(plan, on_pause=on_pause), pages
        report = fetch_dataset(plan, progress=advance, on_pause=on_pause)
    if report.failed:
        raise FetchError(
            f"{counted(report.failed, 'page')} could not be fetched this time.",
            hint=f"The same command tries again; to do without them: --pages {report.folder}",
        )
    if not quiet:
        err().line(f"{counted(report.pages, 'page')} in {clean(str(report.folder))}, {report.fetched:,} fetched now")
    if report.missing and not quiet:
        lacking = counted(len(report.missing), "link has", "links have")
        err().line((clean(f"{lacking} no page: {plan.out / MISSING}"), "yellow"))
    return report.dataset, report.folder
