"""`iterative-rag evaluate report` and `evaluate compare`: the figures of a run, and what differs between runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import err, size, write, write_file, write_json
from iterative_rag.cli.options import AsJson

if TYPE_CHECKING:
    from iterative_rag.evaluation.report_tables import Report


def report(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (evaluate run --out DIR).")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one self-contained page with every question's trace.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The figures of a run with 95 % intervals, finished or not: Markdown on stdout, or with --html a
    page that shows every question, too.

    The keys of --json: python -m pydoc iterative_rag.evaluation.summary
    """
    from iterative_rag.evaluation.html_report import html as page
    from iterative_rag.evaluation.report_tables import Report
    from iterative_rag.evaluation.run_folder import read_run

    reported = Report.of(read_run(run))
    if html is not None:
        _write(html, page(reported))
    show_summary(reported, as_json=as_json)


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


def show_summary(reported: Report, *, as_json: bool) -> None:
    """The figures of a run as Markdown, or the object of `report --json`."""
    from iterative_rag.evaluation.markdown_report import markdown

    if as_json:
        write_json(reported.to_json())
    else:
        write(markdown(reported))


def write_reports(reported: Report, *, quiet: bool) -> None:
    """The report as Markdown and as a page, in the folder of the run."""
    from iterative_rag.evaluation.html_report import html
    from iterative_rag.evaluation.markdown_report import markdown
    from iterative_rag.system.files import tighten

    folder = reported.run.path
    _write(folder / "report.html", html(reported), quiet=quiet)
    _write(folder / "report.md", markdown(reported), quiet=quiet)
    tighten(folder)


def _write(path: Path, text: str, *, quiet: bool = False) -> None:
    write_file(path, text)
    if not quiet:
        err().line(f"Wrote {path} ({size(path.stat().st_size)}).")
