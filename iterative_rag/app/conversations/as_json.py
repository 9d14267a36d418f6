"""A conversation as a JSON object; its answers follow `answer.schema.json`."""

from __future__ import annotations

from typing import Any

from iterative_rag.app.conversations.values import Conversation
from iterative_rag.storage.output import answer_to_json


def conversation_to_json(conversation: Conversation, *, version: str) -> dict[str, Any]:
    """The conversation in plain JSON types, keys in reading order."""
    return {
        "id": conversation.id,
        "name": conversation.name,
        "created": conversation.created,
        "updated": conversation.updated,
        "turns": [
            {
                "n": turn.n,
                "at": turn.at,
                "asked": turn.asked,
                "question": turn.answer.question,
                "corpus": turn.corpus,
                "backend": turn.backend,
                "run_id": turn.answer.run_id,
                "answer": answer_to_json(turn.answer, version=version),
            }
            for turn in conversation.turns
        ],
        "version": version,
    }
