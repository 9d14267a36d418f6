"""What is redrawn at the bottom of a terminal while something goes on, and erased when it has ended: bars, and the
lines below the hops of a run."""

from __future__ import annotations

import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from iterative_rag.cli.console import clean, err
from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

    from iterative_rag.errors import FetchError
    from iterative_rag.index.indexing_progress import Progress as IndexProgress
    from iterative_rag.sources.wikipedia.article_fetching import Progress
    from iterative_rag.types import RunProgress

PROGRESS_EVERY = 30.0  # seconds between two lines of progress where there is no terminal
_BAR = 24  # columns
# The end of a long answer is shown while it is written: so many lines, drawn anew after so many seconds at the soonest.
_LINES, _PAUSE = 8, 0.05

# Seconds of a call from which on a server is slow, and those of a run before its nearest passages are shown.
_SLOW_CALL, _SOON = 5.0, 1.0

# Done, of how many (None: unknown), and the parts of the text beside it.
Show = Callable[[float, float | None, Callable[[], Sequence[str]]], None]


class LiveLines:
    """Redraws what `drawn` gives for the width of the terminal every second, from the first `redraw` that comes `after`
    seconds from now or later, until `stop`."""

    def __init__(self, console: Console, drawn: Callable[[int], RenderableType], *, after: float = 0.0) -> None:
        self._console, self._drawn, self._after = console, drawn, after
        self._stopped, self._starting = False, threading.Lock()
        self._began = time.monotonic()
        self._drawn_at = 0.0
        self._live: Live | None = None

    @property
    def seconds(self) -> float:
        """How long ago they were made."""
        return time.monotonic() - self._began

    def redraw(self, *, pause: float = 0.0) -> None:
        """Show at once what has changed, but not within `pause` seconds of the last time."""
        if self._live is None and self.seconds >= self._after:
            self._start()
        elif self._live is not None and time.monotonic() - self._drawn_at >= pause:
            self._drawn_at = time.monotonic()
            self._live.refresh()

    def stop(self) -> None:
        with self._starting:
            self._stopped = True
            if self._live is not None:
                self._live.stop()

    def _start(self) -> None:
        from rich.live import Live

        with self._starting:
            if self._live is not None or self._stopped:
                return
            self._live = Live(
                console=self._console,
                get_renderable=lambda: self._drawn(self._console.width),
                refresh_per_second=1,
                transient=True,
                redirect_stdout=False,
            )
            self._live.start(refresh=True)


def clock(seconds: float) -> str:
    """`0:42`, `1:02:05`"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


# --- bars ------------------------------------------------------------------------------------


@contextmanager
def bar(*, quiet: bool = False, in_pipes: bool = False) -> Iterator[Show | None]:
    """A function whose first call shows the bar. Without a terminal it is None, or with `in_pipes` prints a line every
    30 seconds. The text is made anew for every drawing."""
    printer = err()
    if quiet or not printer.terminal:
        yield _occasionally() if in_pipes and not quiet else None
        return
    at: tuple[float, float | None, Callable[[], Sequence[str]]] = (0.0, None, tuple)
    lines = LiveLines(printer.console, lambda width: _drawn(*at, width))

    def show(done: float, total: float | None, parts: Callable[[], Sequence[str]]) -> None:
        nonlocal at
        at = (done, total, parts)
        lines.redraw(pause=_PAUSE)

    try:
        yield show
    finally:
        lines.stop()


def _occasionally() -> Show:
    shown = time.monotonic()

    def show(done: float, total: float | None, parts: Callable[[], Sequence[str]]) -> None:
        nonlocal shown
        if time.monotonic() - shown >= PROGRESS_EVERY:
            shown = time.monotonic()
            err().line(", ".join(parts()))

    return show


def _drawn(done: float, total: float | None, parts: Callable[[], Sequence[str]], width: int) -> RenderableType:
    """The bar and the text beside it; the text alone where there is no room for both."""
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    text = ", ".join(parts())
    if len(text) + 1 + _BAR > width:
        return Text(text)
    beside = Table.grid(padding=(0, 1))
    beside.add_row(ProgressBar(total, done, width=_BAR), Text(text))
    return beside


@contextmanager
def indexing(*, quiet: bool) -> Iterator[Callable[[IndexProgress], None] | None]:
    """A bar in a terminal; None in a pipe."""
    with bar(quiet=quiet) as show:
        yield show and (lambda at: show_indexing(show, at))


def show_indexing(show: Show, at: IndexProgress) -> None:
    """Draw how far indexing has come: by passages, of which one document may hold nearly all."""
    show(at.passages, at.expected, lambda: ["indexing " + indexed(at)[0], *indexed(at)[1:]])


def indexed(at: IndexProgress) -> list[str]:
    """`120 of 824 documents`, `3,100 passages`, `210/s`, `0:42 left`"""
    documents = counted(at.documents if at.total is None else at.total, "document")
    parts = [documents if at.total is None else f"{at.documents:,} of {documents}"]
    parts += [counted(at.passages, "passage"), f"{at.passages_per_second:,.0f}/s"]
    return [*parts, *time_left(at.seconds_left)]


def time_left(seconds: float | None) -> list[str]:
    """`8:40 left`"""
    return [] if seconds is None else [f"{clock(seconds)} left"]


@contextmanager
def fetching(*, quiet: bool) -> Iterator[tuple[Progress | None, Callable[..., None] | None]]:
    """Callbacks for progress and pauses: a bar in a terminal, a line every 30 seconds elsewhere."""
    with bar(quiet=quiet, in_pipes=True) as show:
        if show is None:
            yield None, None
            return
        show(0, None, lambda: ["looking up titles"])
        yield lambda done, of: show(done, of, lambda: [f"fetching {done:,} of {counted(of, 'page')}"]), say_pause


def say_pause(seconds: float, error: FetchError) -> None:
    err().line((f"Waiting {seconds:.0f} s: {clean(str(error))}", "dim"))


# --- below the hops of a run -----------------------------------------------------------------

_DOING = {
    "agent": "choosing the next tool",
    "analyse": "analysing the question",
    "answer": "answering",
    "extract": "reading",
    "follow_up": "understanding the question",
    "plan": "planning",
    "read": "reading",
    "reflect": "checking the answer",
    "rephrase": "rephrasing the question",
    "rephrase_and_analyse": "rephrasing the question",
}


class RunStatus(LiveLines):
    """What an LLM has written of the answer, or the nearest passages until something is found; what is being done, for
    how long, and what it has used. Redrawn every second until it is stopped, and never left behind."""

    def __init__(self, console: Console, *, after: float = 0.0) -> None:
        """`after`: the seconds of a run before which it is not shown."""
        super().__init__(console, self._shown, after=after)
        self._progress: RunProgress | None = None
        self._told_at = 0.0
        self._answer = ""
        self.nearest: Sequence[str] = ()

    def answer(self, text: str) -> None:
        """The answer as far as it is written; "" where none is."""
        self._answer = text
        self.redraw(pause=_PAUSE if text else 0.0)

    def progress(self, at: RunProgress) -> None:
        """Called from the threads of the run."""
        self._progress, self._told_at = at, self.seconds
        self.redraw()

    def _shown(self, width: int) -> Text:
        from rich.text import Text

        figures = used(self._progress, self.seconds, self._told_at)
        line = f"{under_way(self._progress) or 'working'}  {', '.join(figures)}"
        return Text("\n".join([*self._draft_lines(width), line]), style="dim")

    def _draft_lines(self, width: int) -> list[str]:
        """The last lines of the answer that is being written, else the nearest passages."""
        if not self._answer and self.seconds >= _SOON:
            return [f"  nearest  {clean(passage)}"[: max(1, width - 1)] for passage in self.nearest]
        lines = textwrap.wrap(f"draft  {clean(self._answer)}", max(1, width - 5)) if self._answer else []
        return [f"{'    ' if number else '  '}{line}" for number, line in enumerate(lines)][-_LINES:]


def under_way(at: RunProgress | None) -> str:
    """`reading 2 of 5: Harriet Lane and 2 more`, "" where nothing is read and no call is under way"""
    if at is None:
        return ""
    if not at.reading:
        return _DOING.get(at.role, at.role)
    first, *others = at.reading
    more = f" and {len(others)} more" if others else ""
    return f"reading {first.number} of {first.of}: {clean(first.title)}{more}"


def used(at: RunProgress | None, seconds: float, told_at: float = 0.0) -> list[str]:
    """`0:42`, `5 calls`, `4,210 tokens`; of a slow server `31 tokens/s` and `0:08 left of this call`, as the calls so
    far took. `told_at` is when the call under way began."""
    if at is None or not at.calls:
        return [clock(seconds)]
    figures = [clock(seconds), counted(at.calls, "call"), counted(at.tokens, "token")]
    if at.waited >= _SLOW_CALL * max(1, at.replies):
        figures.append(f"{at.tokens / at.waited:.0f} tokens/s")
        left = at.waited / at.replies - (seconds - told_at)
        figures += [f"{part} of this call" for part in time_left(left)] if at.role and left >= 1 else []
    return figures
