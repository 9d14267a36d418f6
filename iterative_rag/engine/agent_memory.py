"""What a run of the strategy `agent` remembers besides its state: the calls, what came of them, what was told once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from iterative_rag.engine.agent_quotes import REFUSED
from iterative_rag.types import Computation, FindCall, RowsCall, SectionCall, ToolCall, ToolResult

# The lines of earlier calls that are shown, and the characters of each.
LOG_LINES, LOG_CHARS = 16, 200


@dataclass(slots=True)
class AgentMemory:
    """`made` are all calls, `in_view` those whose results the model has before it; `results` are these, `log` has a
    line for every call."""

    log: list[str] = field(default_factory=list)
    results: tuple[ToolResult, ...] = ()
    made: set[ToolCall] = field(default_factory=set)
    in_view: set[ToolCall] = field(default_factory=set)
    computations: list[Computation] = field(default_factory=list)
    told: set[str] = field(default_factory=set)

    @property
    def latest_log(self) -> tuple[str, ...]:
        return tuple(self.log[-LOG_LINES:])

    def begin(self, calls: Sequence[ToolCall]) -> list[ToolCall]:
        """Those of a turn's calls that are to be carried out, each once."""
        new = [call for call in dict.fromkeys(calls) if not self._is_repeated(call)]
        self.made.update(new)
        self.in_view = set(new)
        return new

    def _is_repeated(self, call: ToolCall) -> bool:
        """Whether a call would bring nothing. A place in an article is shown again once it is out of view."""
        return call in (self.in_view if isinstance(call, FindCall | SectionCall | RowsCall) else self.made)

    def remember(self, results: Sequence[ToolResult]) -> None:
        """The results of a turn, which the next one shows."""
        self.results = tuple(results)
        self.log += [_line(one) for one in results if one.call != REFUSED]

    def first_time(self, what: str) -> bool:
        """Whether the model has not been told this yet."""
        new = what not in self.told
        self.told.add(what)
        return new


def _line(result: ToolResult) -> str:
    """A call in one line: what came of it, and for a search the titles."""
    titles = result.text.partition("\n")[0] if result.call.startswith("search ") else ""
    return " ".join(f"{result.call}: {result.told} {titles}".split())[:LOG_CHARS]
