"""Each strategy's course: which steps in which order, when all goes well, when it is unclear, and when it fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from fakes.in_memory import DictCache, MemoryCorpus
from fakes.llm_loop import outcome
from fakes.scripted_roles import Grading, Planning, Quoting, Reflecting, Scripted, Wording, roles_of
from iterative_rag.engine.budget import RunBudget
from iterative_rag.engine.components import RunComponents
from iterative_rag.engine.web_search import OverlayCorpus
from iterative_rag.errors import FetchError
from iterative_rag.protocols import BackendTraits
from iterative_rag.registry import STRATEGIES
from iterative_rag.retrieval.document_reader import DocumentReader
from iterative_rag.settings import Settings
from iterative_rag.storage.trace import Trace, event_name
from iterative_rag.types import (
    Action,
    Claim,
    Document,
    Draft,
    Hit,
    Inquiry,
    Known,
    Need,
    Needs,
    Plan,
    PlannedStep,
    PlanTool,
    Reflection,
    ReflectionStep,
    SearchResult,
    ShortlistedDocument,
    Status,
    Step,
    ToolStep,
    WebStep,
)

QUESTION = "Where did Orla Venn live?"
CORPUS = {
    "Orla Venn": "Orla Venn painted the Blue Gate. She lived in Tarn.",
    "Tarn": "Tarn lies on the river Mell. It has a harbour.",
    "Residence": "The painter's residence stood in a harbour town.",
}
LLM, BUILTIN = BackendTraits(), BackendTraits(calls_cost=False, own_words=False, thorough=False)
GOOD, UNCLEAR, FAILING = Grading({"Venn": 0.9}), Grading({"Venn": 0.5}), Grading()


@dataclass
class Web:
    """Finds one page, or fails."""

    corpus: OverlayCorpus
    fault: FetchError | None = None
    asked: list[str] = field(default_factory=list)

    def search_web(self, hop: int, need: Need) -> WebStep:
        self.asked.append(need.question)
        if self.fault:
            raise self.fault
        page = Document("w", "Venn online", "Venn of Tarn.", "http://web.test/venn", retrieved="2026-01-02")
        self.corpus.add([page])
        hit = Hit("w", page.title, 0, len(page.text), 0.9)
        entry = ShortlistedDocument("w", page.title, page.source, 0.9, (hit,))
        result = SearchResult(page.title, page.source)
        return WebStep(hop, need, "stand-in", need.question, (result,), (entry,), ())


def run(
    strategy: str,
    *,
    grader: Grading = GOOD,
    script: Scripted | None = None,
    web: bool = False,
    fault: FetchError | None = None,
    others: dict[str, object] | None = None,
    texts: dict[str, str] = CORPUS,
    traits: BackendTraits = LLM,
    extractor: Quoting | None = None,
    **settings: object,
) -> list[Step]:
    chosen = Settings.model_validate({"shortlist": 1, "grader": "builtin", **settings})
    budget = RunBudget(chosen, Trace("test", []))
    corpus = OverlayCorpus(MemoryCorpus(texts))
    extractor = extractor or Quoting(["Venn", "residence", "Tarn"])
    reader = DocumentReader(
        corpus,
        extractor,
        cache=DictCache(),
        fact_limit=chosen.fact_limit,
        in_flight=1,
        on_hit=budget.cache_hit,
        sparing=traits.calls_cost,
    )
    wording = {"rewriter": Wording(("harbour town residence",))}
    roles = roles_of(script or Scripted(), extractor, **{**wording, **(others or {})})
    online: Any = Web(corpus, fault) if web else None
    components = RunComponents(corpus, reader, roles, grader, budget, chosen, traits, online)
    return list(STRATEGIES.load(strategy)(components).steps(QUESTION))


def course(steps: list[Step]) -> list[str]:
    return [event_name(type(step)) for step in steps]


def once(*questions: str) -> Scripted:
    """Asks for one need a hop, then knows."""
    return Scripted(
        analysis=lambda inquiry: (
            Needs((Need(questions[len(inquiry.tried)]),)) if len(inquiry.tried) < len(questions) else Known()
        )
    )


# --- corrective RAG --------------------------------------------------------------------------


def test_crag_reads_a_correct_shortlist_as_it_is() -> None:
    steps = run("crag", web=True)
    assert course(steps) == ["shortlist", "grading", "reading", "answering", "final"]
    assert outcome(steps).status is Status.ANSWERED


def test_crag_combines_corpus_and_web_where_it_is_unclear() -> None:
    steps = run("crag", grader=UNCLEAR, web=True)
    corrected = ["shortlist", "grading", "correction", "grading", "web", "reading", "answering", "final"]
    assert course(steps) == corrected
    titles = {fact.title for hop in outcome(steps).hops for fact in hop.facts}
    assert titles == {"Orla Venn", "Venn online"}


def test_crag_replaces_an_incorrect_shortlist_by_the_web() -> None:
    steps = run("crag", grader=FAILING, web=True)
    assert "web" in course(steps)
    answer = outcome(steps)
    assert {fact.title for hop in answer.hops for fact in hop.facts} == {"Venn online"}
    assert answer.citations[0].source == "http://web.test/venn"
    assert answer.citations[0].retrieved == "2026-01-02"


def test_a_part_can_be_switched_off_and_on() -> None:
    assert course(run("crag", grader=FAILING, correction="off")).count("correction") == 0
    assert "grading" in course(run("iterative", script=once(QUESTION), grading="on"))
    assert "reflection" in course(run("iterative", script=once(QUESTION), reflection="on"))


# --- self-reflection -------------------------------------------------------------------------

UNPROVED = Reflection((Claim("It burned in 1911.", False, (), "1911 stands in no fact"),))
USELESS = Reflection((Claim("The answer.", True, (0,)),), useful=False, gap="Where is Tarn?")


def actions(steps: list[Step]) -> list[Action]:
    return [step.action for step in steps if isinstance(step, ReflectionStep)]


def test_self_rag_gives_a_draft_that_stands() -> None:
    steps = run("self-rag")
    assert course(steps)[-3:] == ["answering", "reflection", "final"]
    assert actions(steps) == [Action.ACCEPT]


def test_what_is_not_proved_is_written_again_with_advice() -> None:
    script = Scripted()
    steps = run("self-rag", script=script, others={"reflector": Reflecting([UNPROVED])})
    assert actions(steps) == [Action.REGENERATE, Action.ACCEPT]
    assert "It burned in 1911." in script.advice[1]
    assert outcome(steps).status is Status.ANSWERED


@pytest.mark.parametrize(
    ("text", "confidence", "asked"),
    [
        ("Orla Venn painted the Blue Gate [1].", 0.95, False),
        ("Orla Venn painted the Blue Gate [1].", 0.6, True),
        ("Orla Venn drew the Blue Gate for a friend [1].", 0.95, True),
    ],
)
def test_the_model_reflects_only_if_the_rules_or_the_answerer_doubt(text: str, confidence: float, asked: bool) -> None:
    script = Scripted(draft=lambda inquiry: Draft(True, text, "the Blue Gate", (0,), confidence=confidence))
    reflecting = Reflecting([Reflection((Claim(text, True, (0,), "the model said so"),))])
    steps = run("self-rag", script=script, others={"reflector": reflecting}, reflection="unsure")
    assert actions(steps) == [Action.ACCEPT]
    assert (reflecting.said == []) is asked


def test_an_answer_to_another_question_sends_it_to_search_for_the_gap() -> None:
    steps = run("self-rag", grader=Grading({"Venn": 0.9, "Tarn": 0.9}), others={"reflector": Reflecting([USELESS])})
    assert actions(steps) == [Action.SEARCH, Action.ACCEPT]
    assert [hop.needs for hop in outcome(steps).hops] == [(QUESTION,), ("Where is Tarn?",)]


@pytest.mark.parametrize(
    ("reflection", "reason"),
    [
        (Reflection((), refusal=True, gap="Where is Tarn?"), "Where is Tarn?"),
        (Reflection((), false_premise="There is no Blue Gate."), "assumes something untrue: There is no Blue Gate."),
    ],
)
def test_refusals_and_false_premises_are_abstentions(reflection: Reflection, reason: str) -> None:
    answer = outcome(run("self-rag", others={"reflector": Reflecting([reflection])}))
    assert answer.status is Status.ABSTAINED
    assert reason in answer.reason
    assert answer.short_answer == ""


# --- plan, step, evaluate --------------------------------------------------------------------


def planned(*questions: str) -> Plan:
    return Plan(tuple(PlannedStep(question) for question in questions))


def test_a_plan_is_made_carried_out_and_looked_at_after_each_step() -> None:
    planning = Planning([planned("Who is Venn?", "Where is Tarn?"), planned("Where is Tarn?"), Plan(())])
    steps = run("plan", others={"planner": planning})
    step = ["shortlist", "reading", "planning"]
    assert course(steps) == ["planning", *step, *step, "answering", "final"]
    assert [len(inquiry.facts) > 0 for inquiry in planning.seen] == [False, True, True]


def test_a_plan_takes_at_most_twice_its_length_and_never_a_step_for_the_third_time() -> None:
    endless = [planned(f"Where is Tarn, look {n}?", "Who is Venn?") for n in range(20)]
    answer = outcome(run("plan", max_hops=50, others={"planner": Planning(endless)}))
    assert len(answer.hops) == 4
    stubborn = Planning([planned("Where is Tarn?", "Who is Venn?")])
    answer = outcome(run("plan", max_hops=50, others={"planner": stubborn}))
    tried = [need for hop in answer.hops for need in hop.needs]
    assert sorted(tried) == ["Where is Tarn?", "Where is Tarn?", "Who is Venn?", "Who is Venn?"]


@pytest.mark.parametrize(
    ("expression", "told", "computed"),
    [("1911 + 25", "1936", ["1936"]), ("the year of the fire", "refused, ", [])],
)
def test_a_calculation_of_a_plan_is_carried_out_and_its_result_kept(
    expression: str, told: str, computed: list[str]
) -> None:
    calculation = PlannedStep(expression, tool=PlanTool.CALCULATE, facts=(0,))
    planning = Planning([planned("Who is Venn?"), Plan((calculation,)), Plan(())])
    script = Scripted()
    steps = run("plan", script=script, others={"planner": planning})
    (step,) = (step for step in steps if isinstance(step, ToolStep))
    assert (step.tool, step.asked) == ("calculate", expression)
    assert step.told.startswith(told)
    assert [one.result for one in script.drafted[0].computed] == computed
    # A result that only the answer waits for needs no other plan; a refusal does.
    assert course(steps).count("planning") == (2 if computed else 3)


def test_a_step_for_the_web_reads_pages_alone_and_the_corpus_where_the_web_is_not_allowed() -> None:
    plans = [Plan((PlannedStep("Who is Venn?", tool=PlanTool.WEB),)), Plan(())]
    steps = run("plan", web=True, others={"planner": Planning(plans)})
    assert course(steps) == ["planning", "web", "reading", "planning", "answering", "final"]
    assert {fact.title for hop in outcome(steps).hops for fact in hop.facts} == {"Venn online"}
    steps = run("plan", others={"planner": Planning(plans)})
    assert course(steps)[1] == "shortlist"


# --- the loop and everything -----------------------------------------------------------------


def test_iterative_takes_no_part_that_it_does_not_need() -> None:
    steps = run("iterative", script=once("Where is Tarn?"), web=False)
    assert course(steps) == ["analysis", "shortlist", "reading", "analysis", "answering", "final"]


def test_full_checks_after_answering() -> None:
    steps = run("full", script=once("Who is Venn?"))
    hop = ["analysis", "shortlist", "grading", "reading"]
    assert course(steps) == [*hop, "analysis", "answering", "reflection", "final"]


def test_a_gap_goes_to_the_next_hop() -> None:
    reflecting, grader = Reflecting([USELESS]), Grading({"Venn": 0.9, "Tarn": 0.9})
    steps = run("full", script=once("Who is Venn?"), grader=grader, others={"reflector": reflecting})
    assert [hop.needs for hop in outcome(steps).hops] == [("Who is Venn?",), ("Where is Tarn?",)]
    assert outcome(steps).status is Status.ANSWERED


def test_the_web_is_asked_only_where_it_is_allowed() -> None:
    for strategy in ("crag", "self-rag", "full", "plan", "iterative"):
        assert "web" not in course(run(strategy, grader=FAILING, script=once("Who is Venn?")))
    assert "web" in course(run("full", grader=FAILING, script=once("Who is Venn?"), web=True))


def answers_from_the_web(inquiry: Inquiry) -> Draft:
    places = tuple(place for place, fact in enumerate(inquiry.facts) if fact.title == "Venn online")[:1]
    return Draft(bool(places), "Venn of Tarn [1]." if places else "", "Tarn" if places else "", places, "her town", 0.9)


@pytest.mark.parametrize("strategy", ["naive", "crag", "self-rag", "plan", "iterative", "full"])
def test_the_web_is_searched_before_a_run_declines_that_has_found_something(strategy: str) -> None:
    script = once("Who is Venn?")
    script.draft = answers_from_the_web
    others: dict[str, object] = {"planner": Planning([planned("Who is Venn?"), Plan(())])}
    steps = run(strategy, script=script, others=dict(others))
    assert outcome(steps).status is Status.ABSTAINED
    others = {"planner": Planning([planned("Who is Venn?"), Plan(())])}
    script = once("Who is Venn?")
    script.draft = answers_from_the_web
    steps = run(strategy, script=script, others=others, web=True)
    assert course(steps).count("web") == 1
    assert outcome(steps).status is Status.ANSWERED


# --- without any part ------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["iterative", "plan", "naive"])
def test_no_strategy_gives_a_name_or_number_that_no_fact_holds(strategy: str) -> None:
    script = once("Who is Venn?")
    script.draft = lambda inquiry: Draft(True, "She was born in Karsa in 1911 [1].", "1911", (0,), confidence=0.9)
    steps = run(strategy, script=script)
    assert actions(steps) == [Action.REGENERATE, Action.ABSTAIN]
    assert outcome(steps).status is Status.ABSTAINED
