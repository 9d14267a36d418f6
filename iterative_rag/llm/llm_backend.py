"""An LLM as the backend: one model that plans and answers, and optionally a faster one that reads and rephrases."""

from __future__ import annotations

from typing import Final

from iterative_rag.llm.replies import forms
from iterative_rag.llm.replies.forms import R
from iterative_rag.llm.replies.tool_calls import AgentReply
from iterative_rag.llm.roles.agent import LLMAgent
from iterative_rag.llm.roles.answerer import LLMAnswerer, LLMRecaller
from iterative_rag.llm.roles.extractor import LLMExtractor
from iterative_rag.llm.roles.follow_up import LLMFollowUpReader
from iterative_rag.llm.roles.grader import GradesReply, LLMGrader
from iterative_rag.llm.roles.need_analyst import LLMAnalyst, LLMJointAnalyst, LLMRephraser
from iterative_rag.llm.roles.planner import LLMOutliner, LLMPlanner, LLMRewriter
from iterative_rag.llm.roles.reflector import LLMReflector
from iterative_rag.llm.roles.role_call import PromptLanguages, RoleCall
from iterative_rag.llm.roles.writer import LLMWriter
from iterative_rag.protocols import BackendTraits, Cache, CallBudget, ChatModel, Corpus, Roles
from iterative_rag.settings import Settings

FAST_ROLES: Final = frozenset({"extract", "rephrase", "grade", "reword", "web_query"})
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
        *,
        reads_better: bool = False,
    ) -> None:
        self._main, self._fast = main, fast or main
        self._cache, self._settings, self._reads_better = cache, settings, reads_better
        tokens = settings.context_window - settings.reply_tokens - INSTRUCTION_TOKENS
        self._call_chars = max(2000, tokens * CHARS_PER_TOKEN)

    @property
    def name(self) -> str:
        return self._main.name if self._fast is self._main else f"{self._main.name} + {self._fast.name}"

    @property
    def traits(self) -> BackendTraits:
        """A call has room for as many characters of facts or documents as instructions and reply leave. Whether the
        server works on several calls at the same time, its provider may know."""
        at_once = getattr(self._fast, "calls_at_once", None)
        return BackendTraits(reads_better=self._reads_better, call_chars=self._call_chars, calls_at_once=at_once)

    def roles(self, budget: CallBudget, corpus: Corpus | None = None) -> Roles:
        """Needs are written in the languages of the corpus, too, as far as they are known."""
        settings, counted = self._settings, getattr(corpus, "languages", {})
        languages = PromptLanguages(settings.language, settings.answer_language, counted)
        written = getattr(budget, "answer_sink", None)

        def call(role: str, form: type[R]) -> RoleCall[R]:
            """The calls of a role, whose prompt has its name."""
            model = self._fast if role in FAST_ROLES else self._main
            cache = None if role == "extract" else self._cache  # extracts have a cache of their own
            return RoleCall(
                role, form, model, budget, cache, settings.reply_tokens, self._call_chars, languages, written
            )

        return Roles(
            analyst=LLMAnalyst(call("analyse", forms.AnalysisReply)),
            extractor=LLMExtractor(call("extract", forms.ExtractionReply)),
            rephraser=LLMRephraser(call("rephrase", forms.RephrasingReply)),
            answerer=LLMAnswerer(call("answer", forms.AnswerReply)),
            grader=LLMGrader(call("grade", GradesReply)),
            rewriter=LLMRewriter(call("reword", forms.RewordingReply), call("web_query", forms.WebQueryReply)),
            planner=LLMPlanner(call("plan", forms.PlanReply), settings.web),
            reflector=LLMReflector(call("reflect", forms.ReflectionReply)),
            recaller=LLMRecaller(call("recall", forms.RecallReply)),
            agent=LLMAgent(call("agent", AgentReply)),
            follow_up=LLMFollowUpReader(call("follow_up", forms.FollowUpReply)),
            writer=LLMWriter(call("write", forms.WritingReply), settings.length),
            outliner=LLMOutliner(call("outline", forms.OutlineReply)),
            joint_analyst=LLMJointAnalyst(call("rephrase_and_analyse", forms.ContinuationReply)),
        )
