"""`iterative-rag evaluate matrix`: a grid of runs, one after the other, then one comparison."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from iterative_rag.cli.options import AsJson, Quiet

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.preparation import RunConfig
    from iterative_rag.evaluation.running.run_folder import RunFolder
    from iterative_rag.evaluation.running.run_matrix import Cell, MatrixResult


def matrix(
    grid: Annotated[Path, typer.Argument(metavar="FILE", help="TOML: [base] for all runs, [axes] for what varies.")],
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Each run lies in DIR/NAME; the same command goes on there.")
    ],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a grid of settings one after the other, each resumable, then compare them.

    \b
    Example of FILE:
      [base]
      dataset = "questions.jsonl"
      corpus = "pages"
      [axes]
      mode = ["naive", "iterative"]
      llm = ["builtin", "ollama/llama3.1:8b"]

    A run that fails is reported and the others continue; the exit code is then 1.
    With --json: {"cells": [{"name", "choices", "error"}], "comparison": as of compare, or null}.
    """
    from iterative_rag.cli.evaluate.run import run_with_progress
    from iterative_rag.evaluation.running.run_matrix import read_matrix, run_matrix

    cells = read_matrix(grid)

    def started(cell: Cell) -> None:
        if not quiet:
            from iterative_rag.cli.console import err

            err().line(f"{cells.index(cell) + 1} of {len(cells)}  ", (cell.name, "bold"))

    def runner(config: RunConfig, folder: Path) -> RunFolder:
        return run_with_progress(config, folder, quiet=quiet)

    done = run_matrix(cells, out, runner=runner, started=started)
    _show(cells, done, as_json=as_json)
    if done.failures:
        raise typer.Exit(1)


def _show(cells: tuple[Cell, ...], done: MatrixResult, *, as_json: bool) -> None:
    from iterative_rag.cli.console import clean, err, write, write_json
    from iterative_rag.evaluation.report.comparison_report import comparison

    compared = _compared(list(done.runs.values()))
    if as_json:
        import dataclasses

        rows = [
            {
                "name": cell.name,
                "choices": dict(cell.choices),
                "error": dataclasses.asdict(done.failures[cell.name]) if cell.name in done.failures else None,
            }
            for cell in cells
        ]
        write_json({"cells": rows, "comparison": compared})
    else:
        if compared is not None:
            write(comparison(compared))
        for run in done.runs.values() if compared is None else ():
            from iterative_rag.cli.evaluate.report import show_summary

            show_summary(run, as_json=False)
    for name, failure in done.failures.items():
        err().line((f"{name} failed: ", "bold red"), clean(f"{failure.kind}: {failure.message}"))
        if failure.hint:
            err().line(("Hint:  ", "yellow"), clean(failure.hint))


def _compared(runs: list[RunFolder]) -> dict[str, Any] | None:
    """None where there is nothing to compare: less than two runs, or none with a question in common."""
    from iterative_rag.errors import UsageError
    from iterative_rag.evaluation.metrics.run_comparison import compare

    if len(runs) < 2:
        return None
    try:
        return compare(runs)
    except UsageError as error:
        from iterative_rag.cli.console import err

        err().line((str(error), "yellow"))
        return None
