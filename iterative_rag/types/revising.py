"""Values of an edit: what a user changes in a run, after which only what follows is worked out again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from iterative_rag.types.outcomes import Answer


class EditKind(StrEnum):
    """What is done to a fact or a need."""

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
