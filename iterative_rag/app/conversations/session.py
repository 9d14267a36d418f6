"""A conversation that goes on: each question is understood from the ones before it, answered, and kept.

Its next run is told the latest exchanges, and the cited facts of all of them within a set size. Nothing that was cited
is ever left out of the conversation itself; what is bounded is what a prompt has to hold.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from iterative_rag.app.conversations.store import ConversationStore
from iterative_rag.app.conversations.values import Conversation, Turn, name_of, turn_of
from iterative_rag.errors import CorpusError
from iterative_rag.types import Answer, Earlier, Exchange, Fact, FinalStep, Step

if TYPE_CHECKING:
    from iterative_rag.app.factory.rag import IterativeRAG

_log = logging.getLogger(__name__)
# Exchanges that a follow-up may speak of; older ones count by their cited facts alone.
EXCHANGES = 6
# Characters of one answer's text among them, and of all facts without their quotes. A prompt adds as much of the quotes
# as it has room for, so that a fact whose quote does not fit is told by its statement and keeps its citation.
TEXT_CHARS = 300
FACT_CHARS = 6000
_FACT_OVERHEAD = 20  # its number and its marks
_WORD = re.compile(r"\w{3,}")


class ConversationSession:
    """One conversation, asked through `rag`, which may be replaced between two questions. Not for several threads.

    `store` is None for one that is kept nowhere. A turn that cannot be kept (disk full) is told by a warning of the log
    and stays in memory: it must not cost the answer.
    """

    def __init__(
        self, rag: IterativeRAG, conversation: Conversation | None = None, store: ConversationStore | None = None
    ) -> None:
        self.rag = rag
        self.conversation = conversation or Conversation()
        self._store = store

    @property
    def turns(self) -> tuple[Turn, ...]:
        return self.conversation.turns

    def ask(self, question: str, **options: Any) -> Answer:
        """Answer a question or follow-up; the arguments and errors are those of `steps`."""
        from iterative_rag.app.factory.rag import answer_of

        return answer_of(self.steps(question, **options))

    def steps(self, question: str, *, meaning: str = "", **options: Any) -> Iterator[Step]:
        """The run of a question as typed steps; a FollowUpStep tells how a follow-up is understood.

        `meaning` is the question that it stands for, where the caller knows it; it is then asked as it is. The other
        arguments are those of `IterativeRAG.steps`. Raises what that raises, and FollowUpUnclear.
        """
        question = question.strip()
        earlier = earlier_of(self.conversation, question) if self.turns and not meaning else None
        for step in self.rag.steps(meaning or question, earlier=earlier, **options):
            if isinstance(step, FinalStep):
                self._keep(turn_of(question, step.answer, before=self.turns))
            yield step

    def _keep(self, turn: Turn) -> None:
        before = self.conversation
        name = before.name or name_of(turn.answer.question)
        grown = Conversation(before.id, name, before.created or turn.at, turn.at, (*before.turns, turn))
        if self._store is not None:
            try:
                grown = self._store.keep(before, name, turn)
            except CorpusError as error:
                _log.warning("This answer is not kept in the conversation: %s", error)
        self.conversation = grown


def earlier_of(conversation: Conversation, follow_up: str) -> Earlier:
    """The latest exchanges, and the facts that fit, oldest first: those of the latest exchanges and those that share
    words with the follow-up before others."""
    exchanges = tuple(_exchange(turn) for turn in conversation.turns[-EXCHANGES:])
    by_turn = [turn.facts for turn in conversation.turns]
    return Earlier(exchanges, fitting_facts(by_turn, follow_up))


def _exchange(turn: Turn) -> Exchange:
    text = turn.answer.text
    shown = text if len(text) <= TEXT_CHARS else f"{text[:TEXT_CHARS].rstrip()} …"
    return Exchange(turn.answer.question, turn.answer.short_answer, shown)


def fitting_facts(by_turn: Sequence[Sequence[Fact]], follow_up: str) -> tuple[Fact, ...]:
    """The facts of the turns that a prompt has room for, oldest first, without repeats."""
    ordered = list(dict.fromkeys(fact for facts in by_turn for fact in facts))
    recent = {fact for facts in by_turn[-2:] for fact in facts}
    words = set(_WORD.findall(follow_up.casefold()))

    def rank(index: int) -> tuple[bool, int, int]:
        fact = ordered[index]
        shared = len(words & set(_WORD.findall(f"{fact.title} {fact.statement} {fact.value}".casefold())))
        return fact in recent, shared, index

    room, chosen = FACT_CHARS, set()
    for index in sorted(range(len(ordered)), key=rank, reverse=True):
        cost = len(ordered[index].statement) + len(ordered[index].title) + _FACT_OVERHEAD
        if cost <= room:
            room -= cost
            chosen.add(index)
    return tuple(fact for index, fact in enumerate(ordered) if index in chosen)
