"""`iterative-rag evaluate run` and `matrix`: a question set, or a grid of runs over one, which resume; `report` and
`compare`: the figures of a run, and what differs between runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from iterative_rag.cli.console import clean, err, size, write, write_file, write_json
from iterative_rag.cli.live import bar, clock, show_indexing, time_left
from iterative_rag.cli.options import MEASURED, AsJson, Quiet, takes_settings
from iterative_rag.errors import UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.evaluation.preparation import RunConfig
    from iterative_rag.evaluation.report_tables import Report
    from iterative_rag.evaluation.run_evaluation import Tally
    from iterative_rag.evaluation.run_folder import RunFolder
    from iterative_rag.evaluation.run_matrix import Cell
    from iterative_rag.settings import Settings

DatasetFile = Annotated[
    Path, typer.Option("--dataset", metavar="FILE", help="FRAMES, multi-hop, SQuAD or plain question/answer file.")
]
RunCorpus = Annotated[
    str,
    typer.Option(
        "--corpus",
        metavar="NAME",
        help="An indexed corpus; own: each question's paragraphs; pooled: the paragraphs of all.",
    ),
]
Limit = Annotated[int | None, typer.Option(metavar="N", min=1, help="The first N questions.")]
Sample = Annotated[int | None, typer.Option(metavar="N", min=1, help="N questions drawn with --seed.")]
Seed = Annotated[int, typer.Option(metavar="N", help="Seed of --sample.")]
RunOut = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Folder of the run; the same command resumes it. Default: runs/NAME.")
]
ModeName = Annotated[
    str,
    typer.Option(
        metavar="MODE",
        help=f"{', '.join(STRATEGIES.names)}, oracle (the gold articles alone) or auto (as ask does, by the settings "
        "and the model's profile).",
    ),
]
JudgeSpec = Annotated[str, typer.Option(metavar="SPEC", help="An LLM that judges the answers; none by default.")]
Concurrency = Annotated[int, typer.Option("--concurrency", "-c", metavar="N", min=1, max=256)]
RetryErrors = Annotated[bool, typer.Option("--retry-errors", help="Ask again what ended in a fault.")]


@takes_settings(MEASURED)
def run(
    dataset: DatasetFile,
    corpus: RunCorpus,
    settings: Settings,
    out: RunOut = None,
    mode: ModeName = "iterative",
    judge: JudgeSpec = "",
    limit: Limit = None,
    sample: Sample = None,
    seed: Seed = 0,
    repeat: Annotated[int, typer.Option(metavar="N", min=1, help="Ask each question N times, with other seeds.")] = 1,
    concurrency: Concurrency = 4,
    retry_errors: RetryErrors = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run a question set; interrupted or killed, the same command resumes it."""
    from iterative_rag.evaluation.preparation import RunConfig
    from iterative_rag.evaluation.report_tables import Report

    config = RunConfig(
        dataset=dataset,
        corpus=corpus,
        mode=known_mode(mode),
        settings=settings,
        judge=judge,
        limit=limit,
        sample=sample,
        seed=seed,
        repeat=repeat,
        concurrency=concurrency,
    )
    folder = out or Path("runs") / f"{dataset.name.split('.')[0]}-{corpus}-{mode}"
    finished = run_with_progress(config, folder, retry_errors=retry_errors, quiet=quiet)
    show_summary(Report.of(finished), as_json=as_json)


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
    from iterative_rag.evaluation.markdown_report import comparison
    from iterative_rag.evaluation.report_tables import Report
    from iterative_rag.evaluation.run_comparison import compare
    from iterative_rag.evaluation.run_matrix import read_matrix, run_matrix

    cells = read_matrix(grid)

    def started(cell: Cell) -> None:
        if not quiet:
            err().line(f"{cells.index(cell) + 1} of {len(cells)}  ", (cell.name, "bold"))

    runs, failures = run_matrix(cells, out, runner=partial(run_with_progress, quiet=quiet), started=started)
    differences = None
    try:  # runs without a question in common cannot be compared
        differences = compare(list(runs.values())) if len(runs) > 1 else None
    except UsageError as error:
        err().line((str(error), "yellow"))
    if as_json:
        rows = [{"name": cell.name, "choices": dict(cell.choices), "error": failures.get(cell.name)} for cell in cells]
        write_json({"cells": rows, "comparison": differences})
    elif differences is not None:
        write(comparison(differences))
    else:
        for finished in runs.values():
            show_summary(Report.of(finished), as_json=False)
    for name, failure in failures.items():
        err().line((f"{name} failed: ", "bold red"), clean(f"{failure['kind']}: {failure['message']}"))
        if failure["hint"]:
            err().line(("Hint:  ", "yellow"), clean(failure["hint"]))
    if failures:
        raise typer.Exit(1)


def known_mode(name: str) -> str:
    from iterative_rag.evaluation.answer_modes import modes

    if name not in modes():
        raise UsageError(f"There is no mode {name!r}.", hint=f"Use one of: {', '.join(modes())}.")
    return name


def run_with_progress(config: RunConfig, out: Path, *, retry_errors: bool = False, quiet: bool = False) -> RunFolder:
    """Run with progress on stderr: a bar in a terminal, a line every 30 seconds elsewhere."""
    from iterative_rag.evaluation.run_evaluation import run as run_it
    from iterative_rag.system.threads import limit_arenas

    limit_arenas()
    with bar(quiet=quiet, in_pipes=True) as show:
        return run_it(
            config,
            out,
            retry_errors=retry_errors,
            progress=show and (lambda tally: show(tally.done, tally.total, lambda: where(tally))),
            indexing=show and (lambda at: show_indexing(show, at)),
        )


def where(tally: Tally) -> list[str]:
    """`24 of 128`, `41 % right`, `12.0/min`, `8:40 left`, `312 calls`, `41,310 tokens`, `3:12`"""
    return [
        f"{tally.done} of {tally.total}",
        *([f"{100 * tally.right / tally.judged:.0f} % right"] if tally.judged else []),
        *([counted(tally.faults, "fault")] if tally.faults else []),
        *([f"{tally.per_minute:.1f}/min"] if tally.fresh else []),
        *time_left(tally.seconds_left),
        *([counted(tally.calls, "call"), counted(tally.tokens, "token")] if tally.calls else []),
        clock(tally.seconds),
    ]


# --- the figures of runs ---------------------------------------------------------------------------


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
