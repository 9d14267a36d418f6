"""The loop, through the engine's own door: what each analysis leads to, and how every run ends."""

from __future__ import annotations

import pytest

from fakes.in_memory import DictCache, MemoryCorpus
from fakes.llm_loop import outcome
from fakes.scripted_roles import Grading, Quoting, Scripted, roles_of
from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.components import RunComponents
from iterative_rag.engine.strategies import ITERATIVE
from iterative_rag.errors import LLMUnreachable
from iterative_rag.protocols import BackendTraits, ChatReply, ChatRequest
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace
from iterative_rag.types import (
    Cap,
    Draft,
    Inquiry,
    Known,
    Need,
    Needs,
    ReadingStep,
    RephrasingStep,
    ShortlistStep,
    Status,
    Step,
)

CORPUS = MemoryCorpus(
    {
        "Orla Venn": "Orla Venn painted the Blue Gate. She lived in Tarn.",
        "Tarn": "Tarn lies on the river Mell. It has a harbour.",
        "Mell": "The river Mell is 210 km long. It rises in the hills.",
    }
)


def run(
    script: Scripted, extractor: Quoting | None = None, budget: RunBudget | None = None, **settings: object
) -> list[Step]:
    chosen = Settings.model_validate(settings)
    budget = budget or RunBudget(chosen, Trace("test", []))
    extractor = extractor or Quoting(["Venn", "Tarn", "Mell"])
    roles = roles_of(script, extractor)
    reader = DocumentReader(
        CORPUS,
        extractor,
        cache=DictCache(),
        fact_limit=chosen.fact_limit,
        in_flight=chosen.calls_in_flight,
        on_hit=budget.cache_hit,
    )
    components = RunComponents(CORPUS, reader, roles, Grading(), budget, chosen, BackendTraits())
    return list(ITERATIVE(components).steps("How long is it?"))


def asking(*questions: str) -> Scripted:
    """Asks for one need a hop, then knows."""
    return Scripted(
        analysis=lambda inquiry: (
            Needs((Need(questions[len(inquiry.tried)]),)) if len(inquiry.tried) < len(questions) else Known()
        )
    )


def test_two_hops_then_an_answer_with_its_quotes_in_place() -> None:
    script = asking("Where did Orla Venn live?", "On which river is Tarn?")
    script.rephrasing = lambda inquiry, found: f"{inquiry.question} [{found[0].title}]"
    steps = run(script)
    answer = outcome(steps)
    assert answer.status is Status.ANSWERED
    assert answer.reason == ""
    assert [hop.needs for hop in answer.hops] == [("Where did Orla Venn live?",), ("On which river is Tarn?",)]
    assert sum(isinstance(step, RephrasingStep) for step in steps) == 2
    assert [inquiry.original for inquiry in script.seen] == ["How long is it?"] * 3
    citation = answer.citations[0]
    assert CORPUS.document(citation.title).text[citation.start : citation.end] == citation.quote


def test_independent_needs_are_looked_for_in_one_hop() -> None:
    script = Scripted(
        analysis=lambda inquiry: Known() if inquiry.facts else Needs((Need("Where is Tarn?"), Need("Who was Venn?")))
    )
    steps = run(script)
    assert {step.need.question for step in steps if isinstance(step, ReadingStep)} == {
        "Where is Tarn?",
        "Who was Venn?",
    }
    assert len(outcome(steps).hops) == 1


def test_no_hop_repeats_itself() -> None:
    script = Scripted(analysis=lambda inquiry: Needs((Need("Where is Tarn?"),)))
    steps = run(script, max_hops=20, shortlist=1)
    looks = [step for step in steps if isinstance(step, ShortlistStep)]
    assert [look.wider for look in looks] == [False, True]
    first, second = ({entry.title for entry in look.documents} for look in looks)
    assert first
    assert not first & second


def test_hops_that_bring_nothing_end_the_loop_as_an_abstention() -> None:
    script = Scripted(analysis=lambda inquiry: Needs((Need(f"Where is number {len(inquiry.tried)}?"),)))
    answer = outcome(run(script, Quoting(["no such word"]), max_hops=20))
    assert answer.status is Status.ABSTAINED
    assert answer.reason == "everything"
    assert len(answer.hops) == 2


def test_the_hop_cap_makes_one_last_attempt_that_is_marked() -> None:
    script = Scripted(analysis=lambda inquiry: Needs((Need(f"Where is Tarn, try {len(inquiry.tried)}?"),)))
    answer = outcome(run(script, max_hops=1))
    assert (answer.status, answer.cap) == (Status.INCOMPLETE, Cap.HOPS)
    assert script.last_attempts == 1
    assert answer.text == "The answer [1]."


class Paying(Scripted):
    """An analyst whose every call costs one of the budget's."""

    budget: RunBudget

    def analyse(self, inquiry: Inquiry) -> Needs:
        self.budget.before_call("analyse")
        request = ChatRequest("analyse", "", "")
        self.budget.after_call(request, ChatReply("", 60, 40), "m", 0.0)
        return Needs((Need(f"Where is Tarn, try {len(inquiry.tried)}?"),))

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        self.budget.before_call("answer")
        return super().answer(inquiry, last_attempt=last_attempt)


@pytest.mark.parametrize(
    ("limits", "cap", "text"),
    [
        ({"max_calls": 3}, Cap.CALLS, "The answer [1]."),
        ({"max_tokens": 150}, Cap.TOKENS, "Found so far: Tarn lies on the river Mell. [1]"),
    ],
)
def test_caps_are_hard(limits: dict[str, int], cap: Cap, text: str) -> None:
    chosen = {"max_hops": 50, "fact_limit": 1, "calls_in_flight": 2, **limits}
    script = Paying()
    script.budget = RunBudget(Settings.model_validate(chosen), Trace("test", []))
    answer = outcome(run(script, Quoting(["Tarn lies"]), script.budget, **chosen))
    assert answer.hops
    assert (answer.status, answer.cap, answer.text) == (Status.INCOMPLETE, cap, text)
    assert answer.usage.llm_calls <= limits.get("max_calls", 99)


def test_a_fault_before_any_fact_is_raised() -> None:
    def down(inquiry: Inquiry) -> Known:
        raise LLMUnreachable("No server.", hint="ollama serve")

    with pytest.raises(LLMUnreachable):
        run(Scripted(analysis=down))
