"""`iterative-rag evaluate report` and `evaluate compare`: the figures of a run, and what differs between runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.cli.console import clean, err, out, size, write, write_file, write_json
from iterative_rag.cli.options import AsJson
from iterative_rag.errors import UsageError
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.report.report_tables import Report
    from iterative_rag.evaluation.running.run_folder import RunFolder


def report(
    run: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run (evaluate run --out DIR).")],
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write one self-contained page with every question's trace.")
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="Another run to show beside it, such as its floor or ceiling; repeatable."),
    ] = None,
    figures_only: Annotated[
        bool, typer.Option("--figures-only", help="Markdown without any text of questions or articles.")
    ] = False,
    agreement: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help='Given verdicts to hold the judge against: JSONL or CSV of {"id", "correct"}.'
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """The figures of a run with 95 % intervals, finished or not: Markdown on stdout, or a page with --html.

    The keys of --json: python -m pydoc iterative_rag.evaluation.metrics.summary
    """
    from iterative_rag.evaluation.report.html_report import html as page
    from iterative_rag.evaluation.report.markdown_report import markdown
    from iterative_rag.evaluation.running.run_folder import read_run

    if html is not None and figures_only:
        raise UsageError("The page shows every question.", hint="Leave out --html or --figures-only.")
    reported = _report(read_run(run), [read_run(path) for path in beside or ()], agreement)
    if html is not None:
        _write(html, page(reported))
    if as_json:
        write_json(_as_object(reported))
    elif html is not None:
        _show(reported)
    else:
        write(markdown(reported, figures_only=figures_only))


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR DIR...", help="Folders of runs; the first is the base.")],
    as_json: AsJson = False,
) -> None:
    """Compare runs question by question: McNemar's exact test, paired bootstrap, won and lost, cost ratios.

    The keys of --json: python -m pydoc iterative_rag.evaluation.metrics.run_comparison
    """
    from iterative_rag.evaluation.report.comparison_report import comparison
    from iterative_rag.evaluation.running.run_folder import read_run

    figures = compared([read_run(path) for path in runs])
    if as_json:
        write_json(figures)
    else:
        write(comparison(figures))


def compared(runs: Sequence[RunFolder]) -> dict[str, Any]:
    """What differs. Raises UsageError for runs that cannot be compared."""
    from iterative_rag.evaluation.metrics.run_comparison import compare

    return compare(runs)


def show_summary(run: RunFolder, *, as_json: bool) -> None:
    """A short table of the metrics of a run, or the object of `report --json`."""
    reported = _report(run, [], None)
    if as_json:
        write_json(_as_object(reported))
    else:
        _show(reported)


def _report(run: RunFolder, beside: list[RunFolder], agreement: Path | None) -> Report:
    from iterative_rag.evaluation.metrics.summary import summarise
    from iterative_rag.evaluation.report.report_tables import Report

    agreed = None
    if agreement is not None:
        from iterative_rag.evaluation.scoring.judge_agreement import agreement as against
        from iterative_rag.evaluation.scoring.judge_agreement import read_verdicts

        agreed = against(run.records, read_verdicts(agreement))
    return Report(run, summarise(run), tuple((folder, summarise(folder)) for folder in beside), agreed)


def _as_object(reported: Report) -> dict[str, object]:
    """The summary; with `--agreement` also what `agreement` found; of a benchmark also its published
    figures and what sets the run apart from them."""
    from iterative_rag.evaluation.report.published_figures import benchmark_of, differences, figures_beside

    made: dict[str, object] = dict(reported.summary)
    if reported.agreement is not None:
        made["agreement"] = reported.agreement
    if about := benchmark_of(reported):
        figures = [dataclasses.asdict(figure) for figure in figures_beside(reported)]
        made["benchmark"] = {**about, "published": figures, "differences": differences(reported)}
    return made


def write_reports(run: RunFolder, *, quiet: bool) -> None:
    """The report as Markdown and as a page, in the folder of the run."""
    from iterative_rag.evaluation.report.html_report import html
    from iterative_rag.evaluation.report.markdown_report import markdown
    from iterative_rag.system.private_files import tighten

    reported = _report(run, [], None)
    _write(run.path / "report.html", html(reported), quiet=quiet)
    _write(run.path / "report.md", markdown(reported), quiet=quiet)
    tighten(run.path)


def _write(path: Path, text: str, *, quiet: bool = False) -> None:
    write_file(path, text)
    if not quiet:
        err().line(f"Wrote {path} ({size(path.stat().st_size)}).")


def _show(reported: Report) -> None:
    from iterative_rag.evaluation.report import report_tables
    from iterative_rag.evaluation.report.formatting import dollars, number

    printer, summary = out(), reported.summary
    manifest = reported.run.manifest
    asked = counted(summary["answerable"], "answerable question")
    printer.line((clean(reported.run.name), "bold"), f"  {manifest['mode']}, {clean(manifest['backend'])}; {asked}")
    for note in report_tables.notes(reported):
        printer.line((note, "yellow"))
    for row in report_tables.scores(reported):
        printer.line(f"{row.label:<29}", (f"{row.shown:>8}", "bold"), f"   {row.shown_interval}")
    _show_published(reported)
    ended = ", ".join(f"{amount:,} {label}" for _, label, amount in report_tables.outcomes(reported))
    printer.line(f"{counted(summary['answers'], 'answer')}: {ended or 'none yet'}")
    if lost := ", ".join(f"{cause} {amount:,}" for cause, amount, _ in report_tables.causes(reported)):
        printer.line(f"lost: {lost}", hang="      ")
    seconds = summary["seconds"]
    per_answer = [
        f"{number(summary['calls']['mean'])} LLM calls",
        f"{number(summary['tokens']['mean'])} tokens",
        f"{number(seconds['mean'])} s (median {number(seconds['median'])}, 95 % within {number(seconds['p95'])})",
    ]
    if summary["cost"] is not None:
        per_answer.append(dollars(summary["cost"]["mean"]))
    printer.line(f"per answer: {', '.join(per_answer)}")


def _show_published(reported: Report) -> None:
    from iterative_rag.evaluation.report import report_tables
    from iterative_rag.evaluation.report.published_figures import differences

    printer = out()
    if rows := report_tables.published(reported):
        printer.line("Beside published figures:")
    for row in rows:
        label = f"{clean(row.label):<34}"
        printer.line((label, "bold") if row.here else label, f"{row.shown:>8}", f"   {clean(row.note)}", hang="  ")
    for line in differences(reported):
        printer.line((clean(line), "yellow"), hang="  ")
