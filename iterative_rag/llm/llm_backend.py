"""An LLM as the backend: one model that plans and answers, and optionally a faster one that reads and rephrases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from iterative_rag.llm.replies.call_forms import AgentReply
from iterative_rag.llm.replies.forms import (
    AnalysisReply,
    AnswerReply,
    ContinuationReply,
    ExtractionReply,
    FollowUpReply,
    OutlineReply,
    PlanReply,
    RecallReply,
    ReflectionReply,
    RephrasingReply,
    Reply,
    RewordingReply,
    SufficiencyReply,
    WebQueryReply,
    WritingReply,
)
from iterative_rag.llm.replies.grading_forms import GradesReply
from iterative_rag.llm.roles.agent import LLMAgent
from iterative_rag.llm.roles.analyst import LLMAnalyst
from iterative_rag.llm.roles.answer_language import AnswerLanguage
from iterative_rag.llm.roles.answerer import LLMAnswerer
from iterative_rag.llm.roles.corpus_languages import CorpusLanguages
from iterative_rag.llm.roles.extractor import LLMExtractor
from iterative_rag.llm.roles.follow_up import LLMFollowUpReader
from iterative_rag.llm.roles.grader import LLMGrader
from iterative_rag.llm.roles.joint_analyst import LLMJointAnalyst
from iterative_rag.llm.roles.outliner import LLMOutliner
from iterative_rag.llm.roles.planner import LLMPlanner
from iterative_rag.llm.roles.recaller import LLMRecaller
from iterative_rag.llm.roles.reflector import LLMReflector
from iterative_rag.llm.roles.rephraser import LLMRephraser
from iterative_rag.llm.roles.rewriter import LLMRewriter
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.llm.roles.sufficiency_judge import LLMSufficiencyJudge
from iterative_rag.llm.roles.writer import LLMWriter
from iterative_rag.protocols import Cache, CallBudget, ChatModel, Corpus, Roles
from iterative_rag.settings import Settings

R = TypeVar("R", bound=Reply)
# A low estimate for English prose, and the tokens that instructions and questions take.
CHARS_PER_TOKEN = 3
INSTRUCTION_TOKENS = 1500


class LLMBackend:
    """Implements protocols.Backend. `fast` reads, grades, rephrases and words queries; None leaves that to `main`."""

    def __init__(
        self,
        main: ChatModel,
        fast: ChatModel | None,
        cache: Cache | None,
        settings: Settings,
        languages: Mapping[str, int] | None = None,
    ) -> None:
        """`languages` are the numbers of documents of the corpus by language, as far as they are known."""
        self._main, self._fast = main, fast or main
        self._cache, self._settings, self._languages = cache, settings, languages or {}

    @property
    def name(self) -> str:
        return self._main.name if self._fast is self._main else f"{self._main.name} + {self._fast.name}"

    @property
    def metered(self) -> bool:
        return True

    @property
    def calls_at_once(self) -> int | None:
        """How many extractions the server works on at the same time; None where its provider does not know."""
        at_once: int | None = getattr(self._fast, "calls_at_once", None)
        return at_once

    @property
    def call_chars(self) -> int:
        """Characters of facts or documents for which one call has room beside instructions and reply."""
        tokens = self._settings.context_window - self._settings.reply_tokens - INSTRUCTION_TOKENS
        return max(2000, tokens * CHARS_PER_TOKEN)

    def with_languages_of(self, corpus: Corpus) -> LLMBackend:
        """The same backend for questions over this corpus: needs are written in its languages, too."""
        languages: Mapping[str, int] = getattr(corpus, "languages", {})
        return LLMBackend(self._main, self._fast, self._cache, self._settings, languages)

    def roles(self, budget: CallBudget) -> Roles:
        fact_chars = self.call_chars
        language = AnswerLanguage(self._settings.language, self._settings.answer_language)
        written = getattr(budget, "answer_sink", None)
        corpus_languages = CorpusLanguages(self._languages, self._settings.language)

        def role_call(role: str, reply_type: type[R], model: ChatModel, *, cached: bool = True) -> RoleCall[R]:
            cache = self._cache if cached else None
            return RoleCall(role, reply_type, model, budget, cache, self._settings.reply_tokens)

        joint = LLMJointAnalyst(
            role_call("rephrase_and_analyse", ContinuationReply, self._main), fact_chars, corpus_languages
        )
        return Roles(
            analyst=LLMAnalyst(role_call("analyse", AnalysisReply, self._main), fact_chars, corpus_languages),
            extractor=LLMExtractor(role_call("extract", ExtractionReply, self._fast, cached=False)),
            rephraser=LLMRephraser(role_call("rephrase", RephrasingReply, self._fast), fact_chars),
            answerer=LLMAnswerer(role_call("answer", AnswerReply, self._main), fact_chars, language, written),
            grader=LLMGrader(
                role_call("grade", GradesReply, self._fast), fact_chars, binary=self._settings.grades == "binary"
            ),
            rewriter=LLMRewriter(
                role_call("reword", RewordingReply, self._fast),
                role_call("web_query", WebQueryReply, self._fast),
                corpus_languages,
            ),
            planner=LLMPlanner(
                role_call("plan", PlanReply, self._main), fact_chars, self._settings.web, corpus_languages
            ),
            judge=LLMSufficiencyJudge(
                role_call("suffice", SufficiencyReply, self._main),
                fact_chars,
                always=self._settings.sufficiency == "on",
            ),
            reflector=LLMReflector(role_call("reflect", ReflectionReply, self._main), fact_chars),
            recaller=LLMRecaller(role_call("recall", RecallReply, self._main)),
            agent=LLMAgent(role_call("agent", AgentReply, self._main), fact_chars, language, written),
            follow_up=LLMFollowUpReader(
                role_call("follow_up", FollowUpReply, self._main), fact_chars, language, written
            ),
            writer=LLMWriter(
                role_call("write", WritingReply, self._main), fact_chars, self._settings.length, language, written
            ),
            outliner=LLMOutliner(role_call("outline", OutlineReply, self._main), fact_chars, corpus_languages),
            joint_analyst=joint if self._settings.analysis == "joint" else None,
        )
