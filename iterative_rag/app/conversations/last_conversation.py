"""The conversation that a follow-up goes on with: the last one, also where that was a single question."""

from __future__ import annotations

from itertools import islice

from iterative_rag.app.conversations.store import ConversationStore
from iterative_rag.app.conversations.values import LAST, Conversation, name_of, turn_of
from iterative_rag.errors import UsageError
from iterative_rag.storage.past_runs import past_runs, step_of
from iterative_rag.types import FinalStep

# Runs that may lie between the last answer and now: those that failed or were stopped.
_LOOKED_AT = 20


def last_conversation(store: ConversationStore) -> Conversation:
    """The conversation that the last answer belongs to. Where it was asked by itself, one begins with it.

    Raises UsageError where nothing was asked yet.
    """
    for run in islice(past_runs(), _LOOKED_AT):
        step = step_of(run.last)
        if not isinstance(step, FinalStep):
            continue
        if found := store.of_run(run.run_id):
            return found
        turn = turn_of(step.answer.question, step.answer, at=run.at.isoformat() if run.at else "")
        return Conversation(name=name_of(step.answer.question), turns=(turn,))
    if found := store.find(LAST):
        return found
    raise UsageError(
        "There is nothing to go on with yet.", hint='Ask a full question first: iterative-rag ask "Who ...?"'
    )
