"""`iterative-rag evaluate report` and `evaluate compare`: the figures of a run, and what differs between runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import err, size, write, write_file, write_json
from iterative_rag.cli.options import AsJson

if TYPE_CHECKING:
    from iterative_rag.evaluation.run_folder import RunFolder


def report(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (evaluate run --out DIR).")],
    as_json: AsJson = False,
) -> None:
    """The figures of a run with 95 % intervals, finished or not. Every question with its hops and scores:
    inspect view --log-dir DIR/logs

    The keys of --json: python -m pydoc iterative_rag.evaluation.summary
    """
    from iterative_rag.evaluation.run_folder import read_run

    show_summary(read_run(run), as_json=as_json)


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR DIR...", help="Folders of runs; the first is the base.")],
    as_json: AsJson = False,
) -> None:
    """Compare runs question by question: McNemar's exact test, paired bootstrap, won and lost.

    The keys of --json: python -m pydoc iterative_rag.evaluation.run_comparison
    """

    from iterative_rag.evaluation.markdown_report import comparison
    from iterative_rag.evaluation.run_comparison import compare as compared
    from iterative_rag.evaluation.run_folder import read_run

    figures = compared([read_run(path) for path in runs])
    if as_json:
        write_json(figures)
    else:
        write(comparison(figures))


def show_summary(run: RunFolder, *, as_json: bool) -> None:
    """The figures of a run as Markdown, or the object of `report --json`."""
    from iterative_rag.evaluation.markdown_report import markdown
    from iterative_rag.evaluation.report_tables import Report

    reported = Report.of(run)
    if as_json:
        write_json(reported.to_json())
    else:
        write(markdown(reported))


def write_report(run: RunFolder, *, quiet: bool) -> None:
    """The report as Markdown in the folder of the run."""
    from iterative_rag.evaluation.markdown_report import markdown
    from iterative_rag.evaluation.report_tables import Report
    from iterative_rag.system.private_files import tighten

    path = run.path / "report.md"
    write_file(path, markdown(Report.of(run)))
    tighten(run.path)
    if not quiet:
        err().line(f"Wrote {path} ({size(path.stat().st_size)}).")
