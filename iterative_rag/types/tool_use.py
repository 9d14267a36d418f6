"""Values of the strategy `agent`: the calls that a model makes, what came of them, and what it is shown."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.types.loop import Computation, Fact


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A quote that a model claims to have read, not verified yet. `question` is what it answers, `value` the short
    answer."""

    title: str
    quote: str
    question: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class SearchCall:
    """Search the corpus; the queries do not depend on one another."""

    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FindCall:
    """Look for words in one article."""

    title: str
    words: str


@dataclass(frozen=True, slots=True)
class SectionCall:
    """Read a section of an article; without a heading, its beginning and the list of its sections."""

    title: str
    heading: str = ""


@dataclass(frozen=True, slots=True)
class RowsCall:
    """Read the rows of a table. `table` is its number or words of its heading, `filter` words that a row must hold."""

    title: str
    table: str = ""
    filter: str = ""


@dataclass(frozen=True, slots=True)
class CalculateCall:
    """Compute an expression; `facts` are the numbers of the facts, from 1, that its values come from."""

    expression: str
    facts: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NoteCall:
    """Keep quotes as facts."""

    quotes: tuple[QuotedPassage, ...]


@dataclass(frozen=True, slots=True)
class SubmitCall:
    """End the run. In `answer` the marker [n] refers to the facts noted so far, from 1, and then to `quotes`.

    Without `answer` and `short_answer`, the question cannot be answered; `missing` says why. `inferred`: the quotes do
    not say the answer, but it follows from them. `also` and `caveats` as in Answer, with markers as in `answer`.
    """

    answer: str = ""
    short_answer: str = ""
    quotes: tuple[QuotedPassage, ...] = ()
    inferred: bool = False
    also: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    missing: str = ""
    confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class WrongCall:
    """A call that cannot be carried out, and why, in words for the model."""

    tool: str
    reason: str


ToolCall = SearchCall | FindCall | SectionCall | RowsCall | CalculateCall | NoteCall | SubmitCall | WrongCall


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What came of a call. `told` is the engine's word on it, `text` what documents say: data, not instructions."""

    call: str
    told: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class AgentView:
    """What the model is shown in a turn: the facts noted so far, one line for each earlier call, and the results of
    its last calls in full. With `only_submit` a limit is reached: nothing else is carried out any more."""

    question: str
    facts: tuple[Fact, ...] = ()
    computations: tuple[Computation, ...] = ()
    log: tuple[str, ...] = ()
    results: tuple[ToolResult, ...] = ()
    turns_left: int = 1
    only_submit: bool = False
