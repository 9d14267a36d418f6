"""The progress bar of `index`: documents, rate and time left, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from iterative_rag.index.indexing_progress import Progress


@contextmanager
def bar() -> Iterator[Callable[[int, int | None, str], None] | None]:
    """A function (done, total, text) whose first call shows the bar; None without a terminal."""
    from iterative_rag.cli.console import err

    printer = err()
    if not printer.terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn

    bars = Progress(BarColumn(), TextColumn("{task.description}"), console=printer.console, transient=True)
    task = bars.add_task("", total=None)

    def show(done: int, total: int | None, words: str) -> None:
        bars.start()
        bars.update(task, completed=done, total=total, description=words)

    try:
        yield show
    finally:
        bars.stop()


@contextmanager
def indexing(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A progress bar in a terminal; None in a pipe."""
    if quiet:
        yield None
        return
    with bar() as show:
        yield show and (lambda at: show(at.documents, at.total, f"indexing {where(at)}"))


def time_left(seconds: float) -> str:
    """`8:40 left`"""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} left"


def where(at: Progress) -> str:
    """`120 of 824 documents, 3,100 passages, 210/s, 0:42 left`"""
    documents = counted(at.documents if at.total is None else at.total, "document")
    parts = [
        documents if at.total is None else f"{at.documents:,} of {documents}",
        counted(at.passages, "passage"),
        f"{at.passages_per_second:,.0f}/s",
    ]
    if at.questioned:
        parts.append(f"questions for {counted(at.questioned, 'passage')}")
    if at.seconds_left is not None:
        parts.append(time_left(at.seconds_left))
    return ", ".join(parts)
