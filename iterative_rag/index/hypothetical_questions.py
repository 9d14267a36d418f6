"""Hypothetical questions: what each passage answers, written when it is indexed, as a further way to find it.

A question has a vector of its own in the index, with the place of its passage: whoever finds it has found the passage.
Its words are counted by BM25 with those of the passage. It is never shown or quoted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from iterative_rag.errors import CapReached, ReplyUnreadable
from iterative_rag.protocols import QuestionWriter
from iterative_rag.system.threads import LastingPool
from iterative_rag.types import Passage

# So many unreadable replies in a row are no accident: the model cannot do it.
_UNREADABLE_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """What one run of indexing wrote. `unreadable`: passages without questions because no reply could be read;
    `postponed`: documents that have none yet because a limit was reached.

    `calls` and tokens are those of the model; `cached` replies cost none.
    """

    written: int = 0
    unreadable: int = 0
    postponed: int = 0
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class PassageQuestion:
    """A question and the passage that answers it."""

    passage: Passage
    text: str


class PassageQuestions:
    """Has `wanted` questions written for each passage, with `at_once` calls at the same time."""

    def __init__(self, writer: QuestionWriter, wanted: int, *, at_once: int = 1) -> None:
        self.wanted = wanted
        self.exhausted = False
        self.unreadable = 0
        self._writer = writer
        self._unreadable_in_a_row = 0
        self._pool = LastingPool("questions", at_once)

    def write(self, passages: Sequence[Passage], progress: Callable[[], None]) -> list[PassageQuestion] | None:
        """The questions of a document's passages; None where a limit of the run was reached before the last.

        What was written is in the cache by then. `progress` is called after each passage. Raises LLMError.
        """
        if self.exhausted:
            return None
        calls = [self._pool.submit(self._writer.write, passage, self.wanted) for passage in passages]
        written: list[PassageQuestion] = []
        try:
            for passage, call in zip(passages, calls, strict=True):
                try:
                    written += [PassageQuestion(passage, question) for question in call.result()]
                    self._unreadable_in_a_row = 0
                except ReplyUnreadable:
                    self._count_unreadable()
                progress()
        except CapReached:
            self.exhausted = True
            return None
        finally:
            for call in calls:
                call.cancel()
        return written

    def _count_unreadable(self) -> None:
        """Call this where the error is handled: it is raised again if it happens too often."""
        self.unreadable += 1
        self._unreadable_in_a_row += 1
        if self._unreadable_in_a_row == _UNREADABLE_IN_A_ROW:
            raise


def questions_digest(questions: Sequence[PassageQuestion], wanted: int) -> str:
    """Tells apart two sets of questions of the same document, `wanted` for each passage."""
    listing = f"{wanted}\n" + "\n".join(f"{question.passage.ordinal} {question.text}" for question in questions)
    return hashlib.sha256(listing.encode()).hexdigest()[:8]
