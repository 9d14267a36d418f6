"""Lines at the bottom of a terminal that are redrawn while something goes on, and erased when it has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live

# What is being done gets at least so much of a line; where less is left, the figures go to a line of their own.
_ROOM = 24


class LiveLines:
    """Redraws what `drawn` gives for the width of the terminal, `per_second` times a second from `start` to `stop`."""

    def __init__(
        self, console: Console, drawn: Callable[[int], RenderableType], *, per_second: float = 1.0, after: float = 0.0
    ) -> None:
        """Where `after` is not 0, they are shown with the first `redraw` after so many seconds."""
        self._console, self._drawn, self._per_second, self._after = console, drawn, per_second, after
        self._wanted, self._starting = False, threading.Lock()
        self._began = time.monotonic()
        self._drawn_at = 0.0
        self._live: Live | None = None

    @property
    def seconds(self) -> float:
        """How long ago they were made."""
        return time.monotonic() - self._began

    def start(self) -> None:
        """Does nothing where they are shown already."""
        self._wanted = True
        self._show_when_due()

    def redraw(self, *, pause: float = 0.0) -> None:
        """Show at once what has changed, and not only when the next drawing is due; not within `pause` seconds of the
        last time."""
        self._show_when_due()
        if self._live is not None and time.monotonic() - self._drawn_at >= pause:
            self._drawn_at = time.monotonic()
            self._live.refresh()

    def stop(self) -> None:
        with self._starting:
            self._wanted = False
            if self._live is not None:
                self._live.stop()

    def _show_when_due(self) -> None:
        if self._live is not None or self.seconds < self._after:
            return
        from rich.live import Live

        with self._starting:
            if self._live is not None or not self._wanted:
                return
            self._live = Live(
                console=self._console,
                get_renderable=lambda: self._drawn(self._console.width),
                refresh_per_second=self._per_second,
                transient=True,
                redirect_stdout=False,
            )
            self._live.start(refresh=True)


def clock(seconds: float) -> str:
    """`0:42`, `1:02:05`"""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def with_figures(doing: str, figures: str, width: int) -> list[str]:
    """One line of at most `width` columns; the figures on lines of their own where they would leave too little room."""
    from rich.cells import cell_len

    room = width - cell_len(figures) - 2
    if room >= min(_ROOM, cell_len(doing)):
        return [f"{_cut(doing, room)}  {figures}"]
    return [_cut(doing, width), *in_lines(figures.split(", "), width)]


def in_lines(parts: Sequence[str], width: int) -> list[str]:
    """The parts with commas between, on as many lines of at most `width` columns as that takes."""
    from rich.cells import cell_len

    lines: list[str] = []
    for part in parts:
        longer = f"{lines[-1]}, {part}" if lines else part
        if lines and cell_len(longer) < width:
            lines[-1] = longer
            continue
        if lines:
            lines[-1] += ","
        lines.append(part)
    return [_cut(line, width) for line in lines]


def _cut(text: str, room: int) -> str:
    from rich.text import Text

    shown = Text(text)
    shown.truncate(max(1, room), overflow="ellipsis")
    return shown.plain
