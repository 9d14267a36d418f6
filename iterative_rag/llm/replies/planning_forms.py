"""What a planner replies."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from iterative_rag.llm.replies.forms import Reply, Text, as_list
from iterative_rag.llm.replies.reflection_forms import Flag


def _as_steps(value: Any) -> Any:
    """A step that is a bare string is its question."""
    return [{"question": item} if isinstance(item, str) else item for item in as_list(value)]


class PlannedReply(Reply):
    question: Text = ""
    purpose: Text = ""


class PlanReply(Reply):
    reason: Text = ""
    done: Flag = False
    steps: Annotated[list[PlannedReply], BeforeValidator(_as_steps)] = []  # noqa: RUF012 - pydantic copies it
