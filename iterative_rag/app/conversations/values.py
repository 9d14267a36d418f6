"""A conversation and its turns, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from iterative_rag.errors import UsageError
from iterative_rag.text.control_characters import one_line, without_controls
from iterative_rag.types import Answer, Fact, HopRecord

LONGEST_NAME = 80  # characters
# The settings that belong to a conversation: what is asked, by whom and how; `within` is the part of the corpus.
ITS_OWN = ("corpus", "within", "index", "embedder", "llm", "fast_llm", "strategy")
# The name that stands for the conversation that was asked last.
LAST = "last"


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation with its answer. `asked` is what was typed, `answer.question` the question that it
    stands for. `facts` are those that the answer cites. `at` is a time in ISO form, in UTC. `settings` are those of
    ITS_OWN that the question was asked with."""

    n: int
    asked: str
    answer: Answer
    facts: tuple[Fact, ...] = ()
    corpus: str = ""
    backend: str = ""
    at: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def rewritten(self) -> bool:
        """Whether the question was understood in other words than it was typed in."""
        return self.asked != self.answer.question


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in their order. `id` is "" as long as it is not kept; `created` and `updated` as `Turn.at`."""

    id: str = ""
    name: str = ""
    created: str = ""
    updated: str = ""
    turns: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationListing:
    """A line of the list of conversations: how many turns there are, and the last question."""

    id: str
    name: str
    created: str
    updated: str
    turns: int
    last: str = ""


def turn_of(asked: str, answer: Answer, *, before: tuple[Turn, ...] = (), at: str = "") -> Turn:
    """The turn of an answer, reduced to what a conversation remembers: the text of the answer and the facts that it
    cites. What was listed, read and not cited stays in the trace of the run."""
    settings = answer.settings
    return Turn(
        n=len(before) + 1,
        asked=asked,
        answer=compact(answer),
        facts=cited_facts(answer),
        corpus=str(settings.get("corpus", "")),
        backend=str(settings.get("backend", "")),
        at=at or now(),
        settings={name: str(settings[name]) for name in ITS_OWN if name in settings},
    )


def cited_facts(answer: Answer) -> tuple[Fact, ...]:
    """The facts that an answer cites, one for each quote and value, so that what two needs found alike is remembered
    once."""
    cited = {(citation.source, citation.start, citation.end) for citation in answer.citations}
    kept: dict[tuple[Any, ...], Fact] = {}
    for fact in (*(fact for hop in answer.hops for fact in hop.facts), *answer.facts):
        if (fact.source, fact.start, fact.end) in cited:
            kept.setdefault((*fact.place, fact.value.casefold()), fact)
    return tuple(kept.values())


def compact(answer: Answer) -> Answer:
    """The answer without what only its trace needs. Citations, computations and the way to the answer stay."""
    hops = tuple(
        HopRecord(hop.n, hop.question, hop.needs, (), (), hop.rephrased, hop.calls, hop.seconds) for hop in answer.hops
    )
    citations = tuple(replace(citation, display="") for citation in answer.citations)
    return replace(answer, hops=hops, citations=citations, claims=(), nearest=(), unread=(), facts=(), settings={})


def name_of(question: str) -> str:
    """The name that a conversation has by its first question, on one line."""
    line = one_line(question)
    return line if len(line) <= LONGEST_NAME else f"{line[: LONGEST_NAME - 1].rstrip()}…"


def clean_name(name: str) -> str:
    """A name on one line. Raises UsageError for one that is empty, too long or reserved."""
    line = one_line(without_controls(name))
    if not line or len(line) > LONGEST_NAME or line.casefold() == LAST:
        raise UsageError(
            f"{name_of(name)!r} is no name for a conversation.",
            hint=f"Give one of at most {LONGEST_NAME} characters, other than {LAST!r}.",
        )
    return line


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
