"""Values of a conversation as a run sees them: what was asked before, and what a follow-up means."""

from __future__ import annotations

from dataclasses import dataclass

from iterative_rag.types.loop import Fact
from iterative_rag.types.outcomes import Draft


@dataclass(frozen=True, slots=True)
class Exchange:
    """An earlier question, as it stands alone, and what was answered: the sentence with `[n]` markers and the short
    answer, "" where there was none."""

    question: str
    short_answer: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What a run is told of its conversation: the exchanges before it, oldest first, and the facts that their answers
    cite."""

    exchanges: tuple[Exchange, ...] = ()
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class StandAlone:
    """What a follow-up means: a question that stands on its own. `draft` is an answer to it from the earlier facts (its
    `cited` are positions in `Earlier.facts`), None where something has to be looked up. `single`: one look-up of the
    question as it is will do."""

    question: str
    draft: Draft | None = None
    single: bool = False


@dataclass(frozen=True, slots=True)
class Unclear:
    """A follow-up that cannot be understood; `reason` says in one sentence what is unclear."""

    reason: str


FollowUpReading = StandAlone | Unclear
