"""The conversation that a question goes on with, and the settings that belong to it."""

from __future__ import annotations

import shlex
from typing import Any

from iterative_rag.app.conversations import LAST, Conversation, ConversationStore, clean_name
from iterative_rag.app.conversations.last_conversation import last_conversation
from iterative_rag.app.factory.corpus_actions import corpus_name
from iterative_rag.registry import STRATEGIES
from iterative_rag.settings import Settings, as_options
from iterative_rag.storage.output import recorded_parts
from iterative_rag.types import Within

# What a corpus is found by: whoever names another one means none of these.
_OF_THE_CORPUS = frozenset({"index", "embedder", "within"})


def conversation_named(name: str, store: ConversationStore) -> Conversation:
    """The conversation of this name or id, a new one where there is none; LAST for that of the last answer. Raises
    UsageError."""
    if name == LAST:
        return last_conversation(store)
    found = store.find(name) if name else None
    return found or Conversation(name=clean_name(name) if name else "")


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
    wanted: dict[str, Any] = own | (_as_settings(parts[0]) if parts else {})
    taken = {name: value for name, value in wanted.items() if name not in given and value != getattr(settings, name)}
    told = f"As the conversation was asked: {shlex.join(as_options(taken))}" if taken else ""
    return settings.changed(**taken) if taken else settings, parts[1:], told


def _as_settings(part: Within) -> dict[str, Any]:
    names = ("title", "source", "section", "language", "since", "where")
    return {f"within_{name}": value for name in names if (value := getattr(part, name))}
