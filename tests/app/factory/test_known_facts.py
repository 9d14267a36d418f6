"""A question begins with what earlier ones found in the documents that it names, as far as that still stands there."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.decomposition_mind import Chain, DecompositionMind, Link
from fakes.in_memory import DictCache, MemoryCorpus
from iterative_rag.app.factory import IterativeRAG
from iterative_rag.index.embedders.hashing import HashingEmbedder
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.settings import Settings
from iterative_rag.types import AnalysisStep, Answer, FinalStep, Status, Step

PAGES = {
    "Velm Tower": "Velm Tower stands in Karsa. Velm Tower was designed by Oda Brenk.",
    "Oda Brenk": "Oda Brenk was born in Orra. Oda Brenk was taught by Tomas Vey.",
    "Karsa": "Karsa is a town.",
}
DESIGNED = Link("Who designed Velm Tower?", "Oda Brenk", "Velm Tower", "Velm Tower was designed by Oda Brenk.")
BORN = Link("Where was #1 born?", "Orra", "Oda Brenk", "Oda Brenk was born in Orra.")
TAUGHT = Link("Who taught #1?", "Tomas Vey", "Oda Brenk", "Oda Brenk was taught by Tomas Vey.")
FIRST = Chain("Where was the architect of Velm Tower born?", "Orra", (DESIGNED, BORN))
SECOND = Chain("Who taught the architect of Velm Tower?", "Tomas Vey", (DESIGNED, TAUGHT))
THIRD = Chain("Who was the architect of Velm Tower?", "Oda Brenk", (DESIGNED,))


class Asking:
    """One cache, and a model that counts its calls."""

    def __init__(self) -> None:
        self.mind, self.cache = DecompositionMind([FIRST, SECOND, THIRD]), DictCache()

    def steps(self, chain: Chain, pages: dict[str, str] = PAGES, **settings: Any) -> tuple[list[Step], int]:
        """The steps of a question, and how many calls it took."""
        before = self.mind.calls.total()
        return list(self.over(MemoryCorpus(pages), **settings).steps(chain.question)), self.mind.calls.total() - before

    def over(self, corpus: MemoryCorpus, **settings: Any) -> IterativeRAG:
        chosen = Settings.model_validate({"shortlist": 2, **settings})
        backend = LLMBackend(self.mind, None, self.cache, chosen)
        return IterativeRAG(chosen, corpus=corpus, backend=backend, cache=self.cache, embedder=HashingEmbedder())

    def ask(self, chain: Chain, pages: dict[str, str] = PAGES, **settings: Any) -> tuple[Answer, int]:
        steps, calls = self.steps(chain, pages, **settings)
        assert isinstance(steps[-1], FinalStep)
        return steps[-1].answer, calls


def test_a_related_question_takes_fewer_calls() -> None:
    _, alone = Asking().ask(SECOND)
    asking = Asking()
    asking.ask(FIRST)
    steps, calls = asking.steps(SECOND)
    assert (alone, calls) == (5, 3)
    assert isinstance(steps[-1], FinalStep)
    answer = steps[-1].answer
    assert (answer.status, answer.short_answer) == (Status.ANSWERED, "Tomas Vey")
    (known, *_) = (step.known for step in steps if isinstance(step, AnalysisStep))
    assert [(fact.title, fact.quote, fact.source) for fact in known] == [
        ("Velm Tower", "Velm Tower was designed by Oda Brenk.", "Velm Tower.md"),
        ("Oda Brenk", "Oda Brenk was born in Orra.", "Oda Brenk.md"),
    ]


def test_a_repeated_question_takes_no_call() -> None:
    """It would, if it began with what it has found itself, or what was found since."""
    asking = Asking()
    for chain in (FIRST, SECOND):
        asking.ask(chain)
    assert [asking.ask(chain)[1] for chain in (FIRST, SECOND, FIRST)] == [0, 0, 0]


def test_what_a_changed_document_said_is_not_used() -> None:
    asking = Asking()
    asking.ask(FIRST)
    changed = {**PAGES, "Velm Tower": f"It is said that {PAGES['Velm Tower']}"}
    steps, calls = asking.steps(SECOND, changed)
    assert calls == 5
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))


@pytest.mark.parametrize("off", [{"reuse": "words"}, {"cache": False}])
def test_without_reuse_nothing_is_known(off: dict[str, Any]) -> None:
    asking = Asking()
    asking.ask(FIRST)
    steps, _ = asking.steps(SECOND, **off)
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))


@pytest.mark.parametrize("quote", ["Velm Tower was designed by Nobody.", None])
def test_a_planted_entry_is_no_fact(quote: Any) -> None:
    asking = Asking()
    asking.ask(FIRST)
    for value in asking.cache.entries.values():
        for row in value if isinstance(value, list) else ():
            if isinstance(row, dict) and "need" in row:
                row["quote"] = quote
    steps, _ = asking.steps(SECOND)
    assert not any(step.known for step in steps if isinstance(step, AnalysisStep))
    assert isinstance(steps[-1], FinalStep)
    assert steps[-1].answer.short_answer == "Tomas Vey"
