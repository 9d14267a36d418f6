"""A budget of a run that counts, and tells what was counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from iterative_rag.errors import CapReached
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.types import Cap


@dataclass
class CountingBudget:
    """Keeps what it is told; allows `limit` calls."""

    limit: int = 99
    left: float = 12.5
    events: list[str] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)

    def before_call(self, role: str) -> float:
        if self.events.count("before") >= self.limit:
            raise CapReached(Cap.CALLS, self.limit)
        self.events.append("before")
        return self.left

    def after_call(self, request: ChatRequest, reply: ChatReply, model: str, seconds: float) -> None:
        self.events.append("after")

    def failed_call(self, request: ChatRequest, error: Exception, model: str, seconds: float) -> None:
        self.events.append("failed")
        self.errors.append(error)

    def cache_hit(self, what: str) -> None:
        self.events.append(f"hit {what}")
