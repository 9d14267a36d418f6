"""An LLM as the backend: one model that plans and answers, and perhaps a faster one that reads and rephrases."""

from __future__ import annotations

from typing import TypeVar

from iterative_rag.llm.replies.correction_forms import GradesReply, RewordingReply, WebQueryReply
from iterative_rag.llm.replies.forms import (
    AnalysisReply,
    AnswerReply,
    ExtractionReply,
    RecallReply,
    RephrasingReply,
    Reply,
)
from iterative_rag.llm.replies.planning_forms import PlanReply
from iterative_rag.llm.replies.reflection_forms import ReflectionReply, SufficiencyReply
from iterative_rag.llm.roles.analyst import LLMAnalyst
from iterative_rag.llm.roles.answerer import LLMAnswerer
from iterative_rag.llm.roles.extractor import LLMExtractor
from iterative_rag.llm.roles.grader import LLMGrader
from iterative_rag.llm.roles.planner import LLMPlanner
from iterative_rag.llm.roles.recaller import LLMRecaller
from iterative_rag.llm.roles.reflector import LLMReflector
from iterative_rag.llm.roles.rephraser import LLMRephraser
from iterative_rag.llm.roles.rewriter import LLMRewriter
from iterative_rag.llm.roles.role_call import Asker
from iterative_rag.llm.roles.sufficiency_judge import LLMSufficiencyJudge
from iterative_rag.protocols import Cache, ChatModel, Meter, Roles
from iterative_rag.settings import Settings

R = TypeVar("R", bound=Reply)
# Characters a token takes at the least in English prose, and the tokens that instructions and questions take.
CHARS_PER_TOKEN = 3
INSTRUCTIONS = 1500


class LLMBackend:
    """Implements protocols.Backend. `fast` reads, grades and words queries; None leaves that to `main`."""

    def __init__(self, main: ChatModel, fast: ChatModel | None, cache: Cache | None, settings: Settings) -> None:
        self._main, self._fast = main, fast or main
        self._cache, self._settings = cache, settings

    @property
    def name(self) -> str:
        return self._main.name if self._fast is self._main else f"{self._main.name} + {self._fast.name}"

    @property
    def thrifty(self) -> bool:
        return True

    def roles(self, meter: Meter) -> Roles:
        tokens = self._settings.context_window - self._settings.reply_tokens - INSTRUCTIONS
        room = max(2000, tokens * CHARS_PER_TOKEN)

        def asker(role: str, reply_type: type[R], model: ChatModel, *, kept: bool = True) -> Asker[R]:
            cache = self._cache if kept else None
            return Asker(role, reply_type, model, meter, cache, self._settings.reply_tokens)

        return Roles(
            analyst=LLMAnalyst(asker("analyse", AnalysisReply, self._main), room),
            extractor=LLMExtractor(asker("extract", ExtractionReply, self._fast, kept=False)),
            rephraser=LLMRephraser(asker("rephrase", RephrasingReply, self._fast), room),
            answerer=LLMAnswerer(asker("answer", AnswerReply, self._main), room),
            grader=LLMGrader(asker("grade", GradesReply, self._fast), room, binary=self._settings.grades == "binary"),
            rewriter=LLMRewriter(
                asker("reword", RewordingReply, self._fast), asker("web_query", WebQueryReply, self._fast)
            ),
            planner=LLMPlanner(asker("plan", PlanReply, self._main), room),
            judge=LLMSufficiencyJudge(asker("suffice", SufficiencyReply, self._main), room),
            reflector=LLMReflector(asker("reflect", ReflectionReply, self._main), room),
            recaller=LLMRecaller(asker("recall", RecallReply, self._main)),
        )
