"""The default strategy with the real roles of an LLM, over a corpus in memory and a model that follows a script."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fakes.in_memory import DictCache, MemoryCorpus
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.builtin.reasoning.reader_roles import ReaderRoles
from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.components import RunComponents
from iterative_rag.engine.strategies import ITERATIVE
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.protocols import BackendTraits
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace
from iterative_rag.types import Answer, FinalStep, Step


def run_loop(corpus: MemoryCorpus, llm: ScriptedLLM, question: str, **settings: Any) -> list[Step]:
    """All steps of a question. One document is read for each need, unless the settings say otherwise."""
    chosen = Settings.model_validate({"shortlist": 1, "retries": 0, **settings})
    budget = RunBudget(chosen, Trace("test", []))
    roles = LLMBackend(llm, None, None, chosen).roles(budget)
    reader = DocumentReader(
        corpus,
        roles.extractor,
        cache=DictCache(),
        fact_limit=3,
        in_flight=1,
        on_hit=budget.cache_hit,
        ranker=ReaderRoles(),
    )
    run = RunComponents(corpus, reader, roles, roles.grader, budget, chosen, BackendTraits())
    return list(ITERATIVE(run).steps(question))


def outcome(steps: list[Step]) -> Answer:
    assert isinstance(steps[-1], FinalStep)
    return steps[-1].answer


def calls_by_role(llm: ScriptedLLM) -> dict[str, int]:
    return dict(Counter(request.role for request in llm.requests))
