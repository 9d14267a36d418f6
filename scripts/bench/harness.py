"""What all benches share: options from a function's parameters, tables, shares, files of rows, a home of their own."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from iterative_rag.evaluation.statistics import mean_interval

ROOT = Path(__file__).resolve().parents[2]
EVALUATION = ROOT / "evaluation"
Named = Annotated[Path, typer.Option()]  # a path that has to be given by its name: --data FOLDER


def run(*commands: Callable[..., None]) -> None:
    """Each function as a command (one alone needs no name): its parameters are the options, those without a default
    (but `Named`) stand by themselves, and its docstring is the help."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    for command in commands:
        app.command()(command)
    app()


@contextmanager
def own_home() -> Iterator[Path]:
    """A temporary folder in which the package keeps its data (`ITERATIVE_RAG_HOME` is the folder `home` below it)."""
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        os.environ["ITERATIVE_RAG_HOME"] = f"{folder}/home"
        yield Path(folder)


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines, compressed or not."""
    data = path.read_bytes()
    return [json.loads(line) for line in (gzip.decompress(data) if path.suffix == ".gz" else data).splitlines()]


def share(values: Sequence[bool]) -> str:
    """`27 of 31: 87 (71-95)`, in per cent with the 95 % interval."""
    if not values:
        return "-"
    low, high = mean_interval([float(value) for value in values])
    return f"{sum(values)} of {len(values)}: {100 * sum(values) / len(values):.0f} ({100 * low:.0f}-{100 * high:.0f})"


def table(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    """The lines of a Markdown table, as the rows come; the columns are those of the first row."""
    names: list[str] = []
    for row in rows:
        if not names:
            names = list(row)
            yield "| " + " | ".join(names) + " |"
            yield "|" + "---|" * len(names)
        yield "| " + " | ".join(_cell(row[name]) for name in names) + " |"


def show(rows: Iterable[Mapping[str, object]], *, as_json: bool = False) -> None:
    """Print the rows while they are measured, or all of them as JSON."""
    if as_json:
        print(json.dumps(list(rows), ensure_ascii=False, indent=1))
        return
    for line in table(rows):
        print(line, flush=True)


def _cell(value: object) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}" if isinstance(value, float) else str(value)
