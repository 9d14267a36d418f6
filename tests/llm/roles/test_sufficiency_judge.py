"""Is it enough to answer, and which look-up is the gap? By an LLM and by the plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fakes.tower_facts import INQUIRY, fact
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.reasoning.planned_roles import PlannedRoles
from iterative_rag.builtin.reasoning.thresholds import CAREFUL
from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import Fact, Inquiry, Need, Sufficiency
from tests.llm.inquiries import roles

GAP = "When was the Orra Bridge finished?"
# Of one of its needs no value was found.
SHORT = replace(INQUIRY, tried=(*INQUIRY.tried, Need("When was the Orra Bridge designed?")))


def judged(inquiry: Inquiry, *replies: Any, always: bool = False) -> tuple[Sufficiency, ScriptedLLM]:
    with ScriptedLLM({"suffice": list(replies)}) as llm:
        return roles(llm, sufficiency="on" if always else "auto").judge.judge(inquiry), llm


def test_enough_has_no_gap_and_a_gap_is_one_line() -> None:
    assert judged(SHORT, {"reason": "all there", "enough": True, "gap": GAP})[0] == Sufficiency(True, "", "all there")
    found, llm = judged(SHORT, {"reason": "r", "enough": "no", "gap": f"  {GAP} \n"})
    assert found == Sufficiency(False, GAP, "r")
    assert "Who designed Velm Tower? -> [1]" in llm.requests[0].user


def test_a_gap_that_is_empty_or_was_tried_is_complained_about() -> None:
    _, llm = judged(SHORT, {"enough": False}, {"enough": False, "gap": GAP})
    assert "names no question" in llm.requests[1].user
    tried = {"enough": False, "gap": "who designed velm tower"}
    found, llm = judged(SHORT, tried, tried)
    assert "was tried already" in llm.requests[1].user
    assert found.gap == "who designed velm tower"  # looked for once: the second look is the wider one


def test_where_every_need_has_a_value_the_model_is_asked_only_if_it_always_is() -> None:
    found, llm = judged(INQUIRY)
    assert (found.enough, llm.requests) == (True, [])
    found, llm = judged(INQUIRY, {"enough": False, "gap": GAP}, always=True)
    assert (found.gap, len(llm.requests)) == (GAP, 1)


# --- by the plan ---------------------------------------------------------------------------------

QUESTION = "When was the architect of Velm Tower born?"


def by_plan(*facts: Fact, tried: tuple[Need, ...] = ()) -> Sufficiency:
    return PlannedRoles(QuestionPlanner(None), CAREFUL).judge(Inquiry(QUESTION, QUESTION, facts, tried))


def found(need: Need, value: str, score: float) -> Fact:
    return fact(need, "Velm Tower", f"It says {value} of Velm Tower and Oda Brenk.", value, score=score)


def test_the_plan_names_its_first_missing_look_up() -> None:
    empty = by_plan()
    assert not empty.enough
    assert "Velm Tower" in empty.gap
    first = Need(empty.gap)
    second = by_plan(found(first, "Oda Brenk", 0.9), tried=(first,))
    assert not second.enough
    assert "Oda Brenk" in second.gap
    last = Need(second.gap)
    facts = (found(first, "Oda Brenk", 0.9), found(last, "3 March 1874", 0.9))
    assert by_plan(*facts, tried=(first, last)) == Sufficiency(True)


def test_no_look_up_is_made_more_than_twice() -> None:
    tried: tuple[Need, ...] = ()
    while gap := by_plan(tried=tried).gap:
        tried = (*tried, Need(gap))
        assert len(tried) < 20
    assert not by_plan(tried=tried).enough
    assert {tried.count(need) for need in tried} == {2}
