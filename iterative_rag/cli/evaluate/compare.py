"""`iterative-rag evaluate compare`: what differs between runs, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.options import AsJson

if TYPE_CHECKING:
    from iterative_rag.evaluation.running.run_folder import RunFolder


def compare(
    runs: Annotated[list[Path], typer.Argument(metavar="DIR DIR...", help="Folders of runs; the first is the base.")],
    as_json: AsJson = False,
) -> None:
    """Compare runs question by question: McNemar's exact test, paired bootstrap, won and lost, cost ratios.

    The keys of --json: python -m pydoc iterative_rag.evaluation.metrics.run_comparison
    """
    from iterative_rag.evaluation.running.run_folder import read_run

    show_comparison([read_run(path) for path in runs], as_json=as_json)


def show_comparison(runs: Sequence[RunFolder], *, as_json: bool) -> None:
    """Markdown, or the object. Raises UsageError for runs that cannot be compared."""
    from iterative_rag.cli.console import write, write_json
    from iterative_rag.evaluation.metrics.run_comparison import compare as compared
    from iterative_rag.evaluation.report.comparison_report import comparison

    found = compared(runs)
    if as_json:
        write_json(found)
    else:
        write(comparison(found))
