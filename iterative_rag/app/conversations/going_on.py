"""The conversation that a question goes on with, and the settings that belong to it."""

from __future__ import annotations

from dataclasses import asdict
from itertools import islice
from typing import Any

from iterative_rag.app.conversations.store import ConversationStore
from iterative_rag.app.conversations.values import LAST, Conversation, clean_name, name_of, turn_of
from iterative_rag.app.factory.opening import corpus_name
from iterative_rag.errors import UsageError
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings
from iterative_rag.storage.output import recorded_parts
from iterative_rag.storage.past_runs import past_runs, step_of
from iterative_rag.types import FinalStep, Within

# Runs that may lie between the last answer and now: those that failed or were stopped.
_LOOKED_AT = 20
# What a corpus is found by: whoever names another one means none of these.
_OF_THE_CORPUS = frozenset({"index", "embedder", "within"})


def conversation_named(name: str, store: ConversationStore) -> Conversation:
    """The conversation of this name or id, a new one where there is none; LAST for that of the last answer. Raises
    UsageError."""
    if name == LAST:
        return _last_conversation(store)
    conversation = store.find(name) if name else None
    return conversation or Conversation(name=clean_name(name) if name else "")


def _last_conversation(store: ConversationStore) -> Conversation:
    """The conversation that the last answer belongs to. Where it was asked by itself, one begins with it.

    Raises UsageError where nothing was asked yet.
    """
    for run in islice(past_runs(), _LOOKED_AT):
        step = step_of(run.last)
        if not isinstance(step, FinalStep):
            continue
        if conversation := store.of_run(run.run_id):
            return conversation
        turn = turn_of(step.answer.question, step.answer, at=run.at.isoformat() if run.at else "")
        return Conversation(name=name_of(step.answer.question), turns=(turn,))
    if conversation := store.find(LAST):
        return conversation
    raise UsageError(
        "There is nothing to go on with yet.", hint='Ask a full question first: iterative-rag ask "Who ...?"'
    )


def gone_on(settings: Settings, conversation: Conversation) -> tuple[Settings, tuple[Within, ...], str]:
    """The settings with those that belong to the conversation, unless others were given; the parts of the corpus that
    settings cannot hold beside them; and one line that says what was taken over, "" for nothing. Raises UsageError."""
    own = dict(conversation.turns[-1].settings) if conversation.turns else {}
    parts = recorded_parts({"within": own.pop("within", "")})
    if own.get("corpus") == corpus_name(settings):
        own.pop("corpus")
    elif "corpus" in settings.given:
        own, parts = {name: value for name, value in own.items() if name not in _OF_THE_CORPUS}, ()
    given = settings.given
    backend = settings.llm if "llm" in given else own.get("llm", "")
    if own.get("strategy") not in STRATEGIES.offered_with(backend):
        own.pop("strategy", "")
    if any(name.startswith("within_") for name in given):
        parts = ()
    within = asdict(parts[0]) if parts else {}
    wanted: dict[str, Any] = own | {f"within_{name}": value for name, value in within.items() if value}
    taken = {name: value for name, value in wanted.items() if name not in given and value != getattr(settings, name)}
    shown = ", ".join(f"{name} = {value}" for name, value in taken.items())
    told = f"As the conversation was asked: {shown}" if taken else ""
    return settings.changed(**taken) if taken else settings, parts[1:], told
