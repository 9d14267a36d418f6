"""The progress bar of `index`: documents, rate and time left, on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iterative_rag.cli.live_lines import LiveLines, clock, in_lines
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from iterative_rag.index.indexing_progress import Progress


# A shorter bar says nothing; the longest is that of rich.
_SHORTEST, _LONGEST = 12, 40

# Done, of how many (None: unknown), and the parts of the text beside it.
Show = Callable[[float, float | None, Callable[[], Sequence[str]]], None]


@contextmanager
def bar() -> Iterator[Show | None]:
    """A function whose first call shows the bar; None without a terminal. The text is made anew for every drawing."""
    from iterative_rag.cli.console import err

    printer = err()
    if not printer.terminal:
        yield None
        return
    at: tuple[float, float | None, Callable[[], Sequence[str]]] = (0.0, None, tuple)
    lines = LiveLines(printer.console, lambda width: _drawn(*at, width), per_second=4)

    def show(done: float, total: float | None, parts: Callable[[], Sequence[str]]) -> None:
        nonlocal at
        at = (done, total, parts)
        lines.start()
        lines.redraw()

    try:
        yield show
    finally:
        lines.stop()


def _drawn(done: float, total: float | None, parts: Callable[[], Sequence[str]], width: int) -> RenderableType:
    """The bar and the text beside it; the text alone, on as many lines as it takes, where there is no room for both."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    text = ", ".join(parts())
    room = width - len(text) - 1
    if room < _SHORTEST:
        return Text("\n".join(in_lines(parts(), width)), no_wrap=True)
    beside = Table.grid(padding=(0, 1))
    beside.add_row(ProgressBar(total, done, width=min(_LONGEST, room)), Text(text))
    return beside


@contextmanager
def indexing(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A progress bar in a terminal; None in a pipe."""
    if quiet:
        yield None
        return
    with bar() as show:
        yield show and (lambda at: show_indexing(show, at))


def show_indexing(show: Show, at: Progress) -> None:
    """Draw how far indexing has come: by passages, of which one document may hold nearly all."""
    show(at.passages, at.expected, lambda: where(at, "indexing "))


def time_left(seconds: float) -> str:
    """`8:40 left`"""
    return f"{clock(seconds)} left"


def where(at: Progress, doing: str = "") -> list[str]:
    """`120 of 824 documents`, `3,100 passages`, `210/s`, `0:42 left`"""
    documents = counted(at.documents if at.total is None else at.total, "document")
    parts = [
        f"{doing}{documents}" if at.total is None else f"{doing}{at.documents:,} of {documents}",
        counted(at.passages, "passage"),
        f"{at.passages_per_second:,.0f}/s",
    ]
    if at.questioned:
        parts.append(f"questions for {counted(at.questioned, 'passage')}")
    if at.seconds_left is not None:
        parts.append(time_left(at.seconds_left))
    return parts
