"""An LLM as judge: is the given answer the accepted one? The autorater's task of FRAMES, with a prompt of our own.

FRAMES (Krishna et al. 2024, arXiv:2409.12941) rates answers with a prompted LLM that sees question, gold answer and
given answer. This one fails closed: what it did not plainly say is UNJUDGED, never right and never wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.engine.budget import RunBudget
from iterative_rag.errors import LLMError
from iterative_rag.evaluation.records import JudgeVerdict, Spent
from iterative_rag.llm.prompts import fence, prompt
from iterative_rag.llm.replies.forms import JudgeReply, schema, schema_version
from iterative_rag.llm.replies.structured_call import ask
from iterative_rag.protocols import Cache, ChatModel, ChatRequest
from iterative_rag.settings import Settings
from iterative_rag.storage.cache import cache_key
from iterative_rag.storage.trace import Trace

ROLE = "judge"
REPLY_TOKENS = 1024
NO_ANSWER = "No answer was given."
_UNLIMITED = Settings(max_seconds=86_400.0, max_tokens=10**9)  # for what judging costs is only counted


class Judge:
    """Judges answers with one model; safe to use from several threads if the model and the cache are."""

    def __init__(self, model: ChatModel, cache: Cache) -> None:
        self._model, self._cache = model, cache

    @property
    def name(self) -> str:
        """The model and the version of the prompt: verdicts of judges of different names do not compare."""
        return f"{self._model.name} judge={prompt(ROLE).version}"

    def verdict(self, question: str, accepted: Sequence[str], answer: str) -> tuple[JudgeVerdict, str, Spent]:
        """Whether `answer` is one of the `accepted` ones, the judge's reason, and what asking cost.

        An empty answer is incorrect without a call. A reply that is twice unreadable, a timeout or any other fault of
        the model is UNJUDGED, with the fault as its reason; only verdicts are kept in the cache.
        """
        if not answer.strip():
            return JudgeVerdict.INCORRECT, NO_ANSWER, Spent()
        key = cache_key("judge", self.name, schema_version(JudgeReply), question, list(accepted), answer)
        if (kept := self._cache.get(key, JudgeReply.model_validate)) is not None:
            return JudgeVerdict(kept.verdict), kept.reason, Spent(cache_hits=1)
        budget = RunBudget(_UNLIMITED, Trace("", []))
        try:
            reply = ask(self._model, budget, _request(question, accepted, answer), JudgeReply)
        except LLMError as error:
            return JudgeVerdict.UNJUDGED, f"{type(error).__name__}: {error}", Spent.of(budget.usage())
        self._cache.put(key, reply.model_dump(mode="json"))
        return JudgeVerdict(reply.verdict), reply.reason, Spent.of(budget.usage())


def judges_itself(judge_name: str, answerer_name: str) -> bool:
    """Names are those of ChatModel and Backend; server, seed and other options do not make another model."""
    return _model(judge_name) in {_model(part) for part in answerer_name.split(" + ")}


def _model(name: str) -> str:
    """ "llama3.1:8b" of "ollama/llama3.1:8b seed=0" and of "openai-like/llama3.1:8b@http://... seed=0"."""
    first = name.split()[0] if name.split() else ""
    return first.partition("/")[2].partition("@http")[0].casefold() or first.casefold()


def _request(question: str, accepted: Sequence[str], answer: str) -> ChatRequest:
    system, user = prompt(ROLE).render(
        question=fence(question, "question"),
        accepted=fence("\n".join(f"- {' '.join(text.split())}" for text in accepted), "accepted"),
        answer=fence(answer, "answer"),
    )
    return ChatRequest(role=ROLE, system=system, user=user, schema=schema(JudgeReply), max_tokens=REPLY_TOKENS)
