"""What a run may begin with: a follow-up with what was asked before, or an edit of a run that has ended."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.types.loop import Fact
from iterative_rag.types.outcomes import Answer, Draft


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


class EditKind(StrEnum):
    """What a user does to a fact or a need of a run, after which only what follows is worked out again."""

    CORRECT = "correct"
    PIN = "pin"  # it stays as it is in later edits, too; nothing else that was found for the need of a fact counts
    STRIKE = "strike"


@dataclass(frozen=True, slots=True)
class FactEdit:
    """An edit of the fact at `index` among those of a hop (`HopRecord.n`).

    A correction gives another `value`, which the quote of the fact or else the `quote` has to say; that quote is looked
    up in the document of the fact.
    """

    hop: int
    index: int
    kind: EditKind
    value: str = ""
    quote: str = ""


@dataclass(frozen=True, slots=True)
class NeedEdit:
    """An edit of the need at `index` among those of a hop: struck, corrected to another `question`, or pinned with the
    facts that were found for it, so that it is not looked up again."""

    hop: int
    index: int
    kind: EditKind
    question: str = ""


Edit = FactEdit | NeedEdit


@dataclass(frozen=True, slots=True)
class Revision:
    """An edit of the run that ended in `answer`."""

    answer: Answer
    edit: Edit
