"""The progress bar of `index`: documents, rate and time left, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from iterative_rag.ingest import Progress


@contextmanager
def indexing(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A bar in a terminal; nothing in a pipe, where a bar would only be noise."""
    from iterative_rag.cli.console import err

    printer = err()
    if quiet or not printer.terminal:
        yield None
        return
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("indexing"), BarColumn(), TextColumn("{task.description}"))
    with Bars(*columns, console=printer.console, transient=True) as bars:
        task = bars.add_task("", total=None)

        def advance(at: Progress) -> None:
            bars.update(task, completed=at.documents, total=at.total, description=where(at))

        yield advance


def where(at: Progress) -> str:
    """`120 of 824 documents, 3,100 passages, 210/s, 0:42 left`"""
    of = f" of {at.total:,}" if at.total is not None else ""
    parts = [
        f"{at.documents:,}{of} documents",
        f"{at.passages:,} passages",
        f"{at.passages_per_second:,.0f}/s",
    ]
    if at.seconds_left is not None:
        minutes, seconds = divmod(round(at.seconds_left), 60)
        parts.append(f"{minutes}:{seconds:02} left")
    return ", ".join(parts)
