"""What a follow-up means: by conversion of the last value, which costs nothing, or by the role of the backend."""

from __future__ import annotations

from iterative_rag.app.conversations.conversion import converted
from iterative_rag.errors import FollowUpUnclear
from iterative_rag.protocols import FollowUpReader
from iterative_rag.types import Earlier, StandAlone, Unclear


def understood(follow_up: str, earlier: Earlier, reader: FollowUpReader | None) -> StandAlone:
    """The question that a follow-up stands for. Raises FollowUpUnclear, and what the reader raises."""
    if meant := converted(follow_up, earlier):
        return meant
    if reader is None or not earlier.exchanges:
        return StandAlone(follow_up)
    read = reader.understand(follow_up, earlier)
    if isinstance(read, Unclear):
        raise FollowUpUnclear(
            f"This follow-up cannot be understood: {read.reason.rstrip('.')}.",
            hint='Ask the full question, or say what it means: --as "QUESTION" (in a chat: /edit QUESTION).',
        )
    return read
