"""What is told while a run goes on: how far it has come, and the answer while it is written, until a check takes it
back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from iterative_rag.types.outcomes import Draft, Status
from iterative_rag.types.steps import Action, AnsweringStep, FinalStep, FollowUpStep, ReflectionStep, Step


@dataclass(frozen=True, slots=True)
class DocumentAtHand:
    """A document that is being read: the `number`th of the `of` documents that are listed for its need."""

    title: str
    number: int
    of: int


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a run is doing at a moment, and what it has used by then.

    `role` is that of the model call under way that began first, "" where none is; `reading` are the documents that are
    being read, the one that was begun first before the others. `calls` counts the model calls begun, `replies` those
    that have come back; `tokens` are those of their prompts and replies, `waited` the seconds that they took together.
    """

    role: str
    reading: tuple[DocumentAtHand, ...]
    calls: int
    tokens: int
    replies: int = 0
    waited: float = 0.0


@dataclass(frozen=True, slots=True)
class AnswerDelta:
    """What the model has written since: `text` stands at the character `start` of the answer, which ends with it. It is
    not checked yet."""

    start: int
    text: str


@dataclass(frozen=True, slots=True)
class TextWithdrawn:
    """What was shown of the answer does not count; `reason` is one sentence."""

    reason: str


class WrittenAnswer:
    """Follows the answer of one run. Safe to use from several threads."""

    def __init__(self, publish: Callable[[AnswerDelta | TextWithdrawn], None]) -> None:
        self._publish = publish
        self._lock = threading.Lock()
        self._shown = ""

    def wrote(self, text: str) -> None:
        """The answer as far as the model has written it. One that does not begin with what was told before replaces it:
        the model was asked again."""
        with self._lock:
            if self._shown and not text.startswith(self._shown):
                self._withdraw("The model was asked to write it again.")
            if text != self._shown:
                start, self._shown = len(self._shown), text
                self._publish(AnswerDelta(start, text[start:]))

    def check(self, step: Step) -> None:
        """Take back what is shown if the step refuses it."""
        with self._lock:
            if not self._shown:
                return
            match step:
                case FollowUpStep(known=False) | AnsweringStep(draft=Draft(answered=False)):
                    self._withdraw("The facts do not settle the question.")
                case ReflectionStep(action=action) if action is not Action.ACCEPT:
                    self._withdraw("A check found what no fact proves, or no answer to the question.")
                case FinalStep(answer=answer) if answer.status is Status.ABSTAINED:
                    self._withdraw("The corpus does not hold the answer.")

    def _withdraw(self, reason: str) -> None:
        self._shown = ""
        self._publish(TextWithdrawn(reason))
