"""A model with less context than it was said to have: windows are read in pieces, and what does not fit is said."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.hashing_embedder import HashingEmbedder
from fakes.in_memory import DictCache, MemoryCorpus
from fakes.server_dialects import DIALECTS, GROQ, LM_STUDIO, VLLM, Dialect, DialectServer
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.errors import ContextOverflow
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.providers.model_choice import chat_model
from iterative_rag.protocols import Extractor
from iterative_rag.settings import Settings
from iterative_rag.types import Need, Status, Window

TOLD = "The quay was designed by Oda Brenk."
TEXT = "\n\n".join([*(f"Part {n} tells of the quay. {'It is long. ' * 20}" for n in range(8)), TOLD])
WINDOW = Window("quay", "Quay", "quay.md", ((0, len(TEXT)),), TEXT)
OTHER = Window("pier", "Pier", "pier.md", ((0, 40),), "The pier is made of oak and of stone.")
NEED = Need("Who designed the quay?")


def extraction(body: Mapping[str, Any]) -> str:
    fact = {"statement": TOLD, "quote": TOLD, "need": [1], "value": "Oda Brenk"}
    return json.dumps({"facts": [fact] if TOLD in body["messages"][-1]["content"] else []})


def backend_at(spec: str, **settings: Any) -> LLMBackend:
    chosen = Settings.model_validate({"timeout": 60, "retries": 0, **settings})
    model, _ = chat_model(spec, chosen)
    assert model is not None
    return LLMBackend(model, None, None, chosen)


def extractor_at(server: DialectServer, budget: CountingBudget) -> Extractor:
    return backend_at(f"openai-like/tiny@{server.url}/v1").roles(budget).extractor


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_a_window_that_is_too_long_is_read_in_pieces_and_nothing_of_it_is_lost(dialect: Dialect) -> None:
    """It was given up, and the run ended without what it says."""
    with DialectServer(dialect=dialect, reply=extraction, context=len(TEXT) - 100) as server:
        extracts = extractor_at(server, CountingBudget(left=600.0)).extract([NEED], [OTHER, WINDOW], "")
    assert [(one.value, one.window) for one in extracts] == [("Oda Brenk", 1)]
    asked = [body["messages"][-1]["content"] for body in server.bodies]
    read = [text for text in asked if len(text) <= server.context]
    assert all(any(f"Part {n} tells" in text for text in read) for n in range(8))


@pytest.mark.parametrize("dialect", [VLLM, GROQ, LM_STUDIO], ids=lambda dialect: dialect.name)
def test_pieces_that_are_too_long_as_well_end_in_the_error_that_says_what_to_set(dialect: Dialect) -> None:
    budget = CountingBudget(left=600.0)
    with (
        DialectServer(dialect=dialect, reply=extraction, context=300) as server,
        pytest.raises(ContextOverflow) as raised,
    ):
        extractor_at(server, budget).extract([NEED], [WINDOW], "")
    assert "window_chars" in raised.value.hint
    assert budget.events.count("failed") == 2, "the whole and one piece of it"


def test_a_run_that_cannot_read_for_want_of_context_says_what_to_set() -> None:
    """Its windows are tried once more in the end, in the smaller pieces that it has learned of."""

    def planned(body: Mapping[str, Any]) -> str:
        tried = f"- {NEED.question}" in body["messages"][-1]["content"]
        return json.dumps({"status": "stuck"} if tried else {"status": "needs", "needs": [NEED.question]})

    with DialectServer(dialect=VLLM, reply=planned, context=450) as server:
        backend = backend_at(f"openai-like/tiny@{server.url}/v1")
        rag = IterativeRAG(
            Settings(timeout=60, retries=0, max_hops=1),
            corpus=MemoryCorpus({"Quay": TEXT}),
            backend=backend,
            cache=DictCache(),
            embedder=HashingEmbedder(),
        )
        answer = rag.ask(NEED.question)
    assert answer.status is Status.INCOMPLETE
    assert "Quay (The request is longer than the context of tiny" in answer.reason
