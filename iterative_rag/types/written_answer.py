"""The answer while it is written: what is new of it, and when it is taken back because a check refused it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from iterative_rag.types import Action, AnsweringStep, AnswerText, FinalStep, FollowUpStep, ReflectionStep, Status, Step


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

    def wrote(self, answer: AnswerText) -> None:
        """The model has written so far; it may have begun anew."""
        with self._lock:
            if self._shown and not answer.text.startswith(self._shown):
                self._withdraw("The model was asked to write it again.")
            if answer.text != self._shown:
                start, self._shown = len(self._shown), answer.text
                self._publish(AnswerDelta(start, answer.text[start:]))

    def check(self, step: Step) -> None:
        """Take back what is shown if the step refuses it."""
        with self._lock:
            if not self._shown:
                return
            match step:
                case FollowUpStep(known=False):
                    self._withdraw("The facts that were cited before do not settle it.")
                case AnsweringStep(draft=draft) if not draft.answered:
                    self._withdraw("The facts do not settle the question.")
                case ReflectionStep(action=Action.LEAVE_OUT):
                    self._withdraw("A check takes out what no fact proves; the rest is shown with the answer.")
                case ReflectionStep(action=action) if action is not Action.ACCEPT:
                    self._withdraw("A check found what no fact proves, or no answer to the question.")
                case FinalStep(answer=answer) if answer.status is Status.ABSTAINED:
                    self._withdraw("The corpus does not hold the answer.")

    def _withdraw(self, reason: str) -> None:
        self._shown = ""
        self._publish(TextWithdrawn(reason))
