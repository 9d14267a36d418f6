"""The lines below the hops of a run: what an LLM has written of the answer, what is being done, for how long, and what
it has used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iterative_rag.cli.live_lines import LiveLines, clock, with_figures
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
    "follow_up": "understanding the question",
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


# The end of a long answer is shown while it is written: so many lines, drawn anew after so many seconds at the soonest.
_LINES, _PAUSE = 8, 0.05


class RunStatus:
    """Redrawn every second until it is stopped, and never left behind."""

    def __init__(self, console: Console, limits: Limits, *, after: float = 0.0) -> None:
        """`after`: the seconds of a run before which it is not shown."""
        self._console, self._limits = console, limits
        self._doing = _DOING["analyse"]
        self._progress: RunProgress | None = None
        self._answer = ""
        self._lines = LiveLines(console, self._drawn, after=after)

    def start(self) -> None:
        self._lines.start()

    def stop(self) -> None:
        self._lines.stop()

    def doing(self, what: str) -> None:
        """What is shown where no call of the model is under way."""
        self._doing = what
        self._lines.redraw()

    def answer(self, text: str) -> None:
        """The answer as far as it is written; "" where none is."""
        self._answer = text
        self._lines.redraw(pause=_PAUSE if text else 0.0)

    def progress(self, at: RunProgress) -> None:
        """Called from the threads of the run."""
        self._progress = at
        self._lines.redraw()

    def _drawn(self, width: int) -> Text:
        from rich.text import Text

        figures = used(self._progress, self._lines.seconds, self._limits)
        lines = with_figures(under_way(self._progress) or self._doing, figures, width)
        return Text("\n".join([*self._draft_lines(width), *lines]), style="dim", no_wrap=True)

    def _draft_lines(self, width: int) -> list[str]:
        """The last lines of the answer that is being written."""
        from rich.text import Text

        from iterative_rag.cli.console import clean

        if not self._answer:
            return []
        lines = Text(f"draft  {clean(self._answer)}").wrap(self._console, max(1, width - 5))
        shown = [f"{'    ' if number else '  '}{line.plain.rstrip()}" for number, line in enumerate(lines)]
        return shown if len(shown) <= _LINES else ["    …", *shown[1 - _LINES :]]


def under_way(at: RunProgress | None) -> str:
    """`reading 2 of 5: Harriet Lane and 2 more`, "" where nothing is read and no call is under way"""
    from iterative_rag.cli.console import clean

    if at is None:
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
