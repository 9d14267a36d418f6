"""Has an LLM write the questions by which an index finds its passages."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from iterative_rag.errors import CapReached, UsageError
from iterative_rag.protocols import ChatReply, ChatRequest
from iterative_rag.settings import Settings
from iterative_rag.types import Cap

if TYPE_CHECKING:
    from iterative_rag.index.hypothetical_questions import PassageQuestions, QuestionReport
    from iterative_rag.protocols import Cache

ROLE = "questions"


@dataclass
class IndexingBudget:
    """Implements protocols.CallBudget: counts the calls of one run of indexing, and allows `max_calls` (None: any)."""

    max_calls: int | None = None
    calls: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def before_call(self, role: str) -> None:
        with self._lock:
            if self.max_calls is not None and self.calls >= self.max_calls:
                raise CapReached(Cap.CALLS, self.max_calls)
            self.calls += 1

    def after_call(self, request: ChatRequest, reply: ChatReply, model: str, seconds: float) -> None:
        with self._lock:
            self.prompt_tokens += reply.prompt_tokens
            self.completion_tokens += reply.completion_tokens

    def failed_call(self, request: ChatRequest, error: Exception, model: str, seconds: float) -> None:
        """It was counted when it began."""

    def cache_hit(self, what: str) -> None:
        with self._lock:
            self.cached += 1

    def added_to(self, report: QuestionReport) -> QuestionReport:
        return replace(
            report,
            calls=self.calls,
            cached=self.cached,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
        )


def passage_questions(
    settings: Settings, kept: Cache, budget: IndexingBudget, llm: object | None = None
) -> PassageQuestions:
    """What writes `settings.index_questions` for each passage. Raises UsageError where there is no LLM."""
    from iterative_rag.index.hypothetical_questions import PassageQuestions
    from iterative_rag.llm.providers.model_choice import chat_model
    from iterative_rag.llm.replies.forms import QuestionsReply
    from iterative_rag.llm.roles.query_writer import LLMQuestionWriter
    from iterative_rag.llm.roles.role_call import RoleCall

    model, _ = chat_model(settings.llm if llm is None else llm, settings)
    if model is None:
        raise UsageError(
            "The built-in backend cannot write questions for passages.",
            hint="Name an LLM (--llm ollama/MODEL), or leave out --questions.",
        )
    at_once = settings.calls_in_flight
    if "calls_in_flight" not in settings.model_fields_set:
        at_once = getattr(model, "calls_at_once", None) or at_once
    asker = RoleCall(ROLE, QuestionsReply, model, budget, kept, settings.reply_tokens)
    return PassageQuestions(LLMQuestionWriter(asker), settings.index_questions, at_once=at_once)
