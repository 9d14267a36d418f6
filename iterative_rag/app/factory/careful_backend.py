"""A small LLM beside the built-in models, each where it is better: they plan, search, check and word the answer, and it
reads again what they found. A model of one or two billion parameters reads well, but cannot plan and never declines."""

from __future__ import annotations

from dataclasses import replace

from iterative_rag.app.factory.backends import fact_check
from iterative_rag.builtin.builtin_backend import BuiltinBackend
from iterative_rag.builtin.reasoning.second_reading import SecondReading
from iterative_rag.llm.replies.forms import SentenceReply
from iterative_rag.llm.roles.role_call import RoleCall
from iterative_rag.llm.roles.sentence_reader import REPLY_TOKENS, LLMSentenceReader
from iterative_rag.protocols import Cache, CallBudget, ChatModel, Corpus, Roles


class CarefulBackend:
    """Implements protocols.Backend."""

    def __init__(self, model: ChatModel, builtin: BuiltinBackend, cache: Cache) -> None:
        self._model, self._builtin, self._cache = model, builtin, cache
        self.name, self.traits = f"{model.name} + builtin", builtin.traits

    def roles(self, budget: CallBudget, corpus: Corpus | None = None) -> Roles:
        call = RoleCall("read", SentenceReply, self._model, budget, self._cache, REPLY_TOKENS)
        confirmer = SecondReading(LLMSentenceReader(call), fact_check(self._cache))
        return replace(self._builtin.roles(budget, corpus), confirmer=confirmer)
