"""A chat model as a reranker: it grades passages, several a call. Ollama has no endpoint for rerank models."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import Cache, ChatModel, ChatReply, ChatRequest, Reranker
from iterative_rag.registry import LLMS
from iterative_rag.remote.model_spec import Spec
from iterative_rag.settings import Settings
from iterative_rag.types import Need


class ChatReranker:
    """Implements protocols.Reranker. `relevance` raises LLMError where no call can succeed. Its calls do not count
    among the calls of a run."""

    def __init__(self, model: ChatModel, settings: Settings, cache: Cache | None = None) -> None:
        self.name = model.name
        finely = settings.model_copy(update={"grades": "labels"})
        self._grader = LLMBackend(model, None, cache, finely).roles(_Uncounted()).grader

    def relevance(self, query: str, passages: Sequence[tuple[str, str]]) -> list[float]:
        return [grade.score for grade in self._grader.grade(Need(query), passages)]


class _Uncounted:
    """A budget without limits."""

    def before_call(self, role: str) -> None:
        """Any number of calls."""

    def after_call(self, request: ChatRequest, reply: ChatReply, model: str, seconds: float) -> None:
        """Not counted."""

    def failed_call(self, request: ChatRequest, error: Exception, model: str, seconds: float) -> None:
        """Not counted."""

    def cache_hit(self, what: str) -> None:
        """Not counted."""


def build(spec: Spec, settings: Settings, *, cache: Cache | None) -> Reranker:
    make: Callable[[Spec, Settings], ChatModel] = LLMS.load(spec.kind)
    return ChatReranker(make(spec, settings), settings, cache)
