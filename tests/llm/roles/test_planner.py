"""Planning by an LLM: typed steps, and what was computed so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from iterative_rag.llm.providers.scripted import ScriptedLLM
from iterative_rag.types import Computation, Inquiry, PlannedStep, PlanTool
from tests.llm.inquiries import INQUIRY, answer, roles

COMPUTED = replace(INQUIRY, computed=(Computation("1911 + 25", "1936", (1,)),))


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        ({"tool": "search", "question": "Where?"}, PlannedStep("Where?")),
        ({"question": "Where?", "facts": [1]}, PlannedStep("Where?")),
        ({"tool": "Web search", "question": "Where?"}, PlannedStep("Where?", tool=PlanTool.WEB)),
        ({"tool": "oracle", "question": "Where?"}, PlannedStep("Where?")),
        (
            {"tool": "Calculator", "question": " 1911  + 25", "facts": ["[2]"], "purpose": "the year"},
            PlannedStep("1911 + 25", "the year", PlanTool.CALCULATE, (1,)),
        ),
        ("Where?", PlannedStep("Where?")),
    ],
)
def test_a_step_has_a_tool_and_is_a_search_where_it_names_none(step: Any, expected: PlannedStep) -> None:
    with ScriptedLLM({"plan": [{"reason": "r", "done": False, "steps": [step]}]}) as llm:
        assert roles(llm).planner.plan(INQUIRY).steps == (expected,)


@pytest.mark.parametrize(("inquiry", "web"), [(INQUIRY, False), (COMPUTED, True)])
def test_the_model_sees_what_was_computed_and_the_web_only_where_it_is_allowed(inquiry: Inquiry, web: bool) -> None:
    with ScriptedLLM({"plan": [{"done": True}]}) as llm:
        assert roles(llm, web=web).planner.plan(inquiry).steps == ()
    assert ('"web"' in llm.requests[0].system) is web
    assert ("1911 + 25 = 1936" in llm.requests[0].user) is bool(inquiry.computed)


def test_the_answer_may_use_what_was_computed_on_the_way() -> None:
    with ScriptedLLM({"answer": [answer(answer="It was 1936 [2].", short_answer="1936")]}) as llm:
        draft = roles(llm).answerer.answer(COMPUTED)
    assert "1911 + 25 = 1936" in llm.requests[0].user
    assert draft.computations == COMPUTED.computed
