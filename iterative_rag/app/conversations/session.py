"""A conversation that goes on: each question is understood from the ones before it, answered, and kept."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from iterative_rag.app.conversations.memory import earlier_of
from iterative_rag.app.conversations.store import ConversationStore
from iterative_rag.app.conversations.values import Conversation, Turn, name_of, turn_of
from iterative_rag.errors import CorpusError
from iterative_rag.types import Answer, AnswerText, Earlier, FinalStep, RunProgress, Step

_log = logging.getLogger(__name__)


class Asker(Protocol):
    """What answers the questions of a conversation: `IterativeRAG`."""

    def steps(
        self,
        question: str,
        *,
        strategy: str | None = None,
        trace: Path | None = None,
        progress: Callable[[RunProgress], None] | None = None,
        written: Callable[[AnswerText], None] | None = None,
        run_id: str = "",
        earlier: Earlier | None = None,
    ) -> Iterator[Step]:
        """The steps of one run, the last a FinalStep. `earlier`: the question is a follow-up."""
        ...


class ConversationSession:
    """One conversation, asked through `rag`, which may be replaced between two questions. Not for several threads.

    `store` is None for one that is kept nowhere. A turn that cannot be kept (disk full) is told by a warning of the log
    and stays in memory: it must not cost the answer.
    """

    def __init__(
        self, rag: Asker, conversation: Conversation | None = None, store: ConversationStore | None = None
    ) -> None:
        self.rag = rag
        self.conversation = conversation or Conversation()
        self._store = store

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.conversation.turns

    def ask(
        self, question: str, *, meaning: str = "", strategy: str | None = None, trace: Path | None = None
    ) -> Answer:
        """Answer a question or follow-up; the arguments and errors are those of `steps`."""
        answer = None
        for step in self.steps(question, meaning=meaning, strategy=strategy, trace=trace):
            if isinstance(step, FinalStep):
                answer = step.answer
        assert answer is not None, "the run ended without a final step"
        return answer

    def steps(
        self,
        question: str,
        *,
        meaning: str = "",
        strategy: str | None = None,
        trace: Path | None = None,
        progress: Callable[[RunProgress], None] | None = None,
        written: Callable[[AnswerText], None] | None = None,
        run_id: str = "",
    ) -> Iterator[Step]:
        """The run of a question as typed steps; a FollowUpStep tells how a follow-up is understood.

        `meaning` is the question that it stands for, where the caller knows it; it is then asked as it is. The other
        arguments are those of `IterativeRAG.steps`. Raises what that raises, and FollowUpUnclear.
        """
        question = question.strip()
        earlier = earlier_of(self.conversation, question) if self.turns and not meaning else None
        asked = meaning or question
        run = self.rag.steps(
            asked,
            strategy=strategy,
            trace=trace,
            progress=progress,
            written=written,
            run_id=run_id,
            earlier=earlier,
        )
        for step in run:
            if isinstance(step, FinalStep):
                self._keep(turn_of(question, step.answer, before=self.turns))
            yield step

    def _keep(self, turn: Turn) -> None:
        grown = self.conversation.with_turn(turn)
        grown = replace(grown, name=grown.name or name_of(turn.answer.question))
        if self._store is not None:
            try:
                grown = self._store.keep(self.conversation, grown.name, turn)
            except CorpusError as error:
                _log.warning("This answer is not kept in the conversation: %s", error)
        self.conversation = grown
