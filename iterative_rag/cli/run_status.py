"""The line below the hops while an LLM works: what is being done, for how long, and what it has used."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from iterative_rag.text.plurals import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from iterative_rag.settings import Settings
    from iterative_rag.types import RunProgress

_DOING = {
    "agent": "choosing the next tool",
    "analyse": "analysing the question",
    "answer": "answering",
    "extract": "reading",
    "grade": "grading documents",
    "plan": "planning",
    "recall": "recalling",
    "reflect": "checking the answer",
    "rephrase": "rephrasing the question",
    "rephrase_and_analyse": "rephrasing the question",
    "reword": "finding other words",
    "suffice": "checking what is missing",
    "web_query": "finding words for the web",
}
# What is being done gets at least so much of a line; where less is left, the figures go to a line of their own.
_ROOM = 24


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run that its user has set; None where the default holds."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None

    @classmethod
    def of(cls, settings: Settings) -> Limits:
        own = settings.model_fields_set
        return cls(
            settings.max_calls if "max_calls" in own else None,
            settings.max_tokens if "max_tokens" in own else None,
            settings.max_seconds if "max_seconds" in own else None,
        )


class RunStatus:
    """Redrawn every second until it is stopped, and never left behind."""

    def __init__(self, console: Console, limits: Limits) -> None:
        from rich.live import Live

        self._console, self._limits = console, limits
        self._began = time.monotonic()
        self._doing = _DOING["analyse"]
        self._progress: RunProgress | None = None
        self._live = Live(
            console=console, get_renderable=self._drawn, refresh_per_second=1, transient=True, redirect_stdout=False
        )

    def start(self) -> None:
        self._live.start()

    def stop(self) -> None:
        self._live.stop()

    def doing(self, what: str) -> None:
        """What is shown where no call of the model is under way."""
        self._doing = what

    def progress(self, at: RunProgress) -> None:
        """Called from the threads of the run."""
        self._progress = at

    def _drawn(self) -> Text:
        from rich.text import Text

        seconds = time.monotonic() - self._began
        lines = laid_out(self._now(), used(self._progress, seconds, self._limits), self._console.width)
        return Text("\n".join(lines), style="dim", no_wrap=True)

    def _now(self) -> str:
        return under_way(self._progress) or self._doing


def under_way(at: RunProgress | None) -> str:
    """`reading 2 of 5: Harriet Lane and 2 more`, "" where no call is under way"""
    from iterative_rag.cli.console import clean

    if at is None or not at.role:
        return ""
    if not at.reading:
        return _DOING.get(at.role, at.role)
    first, *others = at.reading
    more = f" and {len(others)} more" if others else ""
    return f"reading {first.number} of {first.of}: {clean(first.title)}{more}"


def used(at: RunProgress | None, seconds: float, limits: Limits) -> str:
    """`0:42, 5 calls, 4,210 tokens`; `0:42 of 5:00, 5 of 20 calls, 4,210 of 50,000 tokens`"""
    parts = [clock(seconds) + (f" of {clock(limits.seconds)}" if limits.seconds else "")]
    if at is not None and at.calls:
        parts.append(_of(at.calls, limits.calls, "call"))
        parts.append(_of(at.tokens, limits.tokens, "token"))
    return ", ".join(parts)


def _of(count: int, limit: int | None, noun: str) -> str:
    return counted(count, noun) if limit is None else f"{count:,} of {counted(limit, noun)}"


def clock(seconds: float) -> str:
    """`0:42`, `1:02:05`"""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def laid_out(doing: str, figures: str, width: int) -> list[str]:
    """One line of at most `width` columns, two where the figures would leave too little room; cut with an ellipsis."""
    from rich.cells import cell_len

    room = width - cell_len(figures) - 2
    if room >= min(_ROOM, cell_len(doing)):
        return [f"{_cut(doing, room)}  {figures}"]
    return [_cut(doing, width), _cut(figures, width)]


def _cut(text: str, room: int) -> str:
    from rich.text import Text

    shown = Text(text)
    shown.truncate(max(1, room), overflow="ellipsis")
    return shown.plain
