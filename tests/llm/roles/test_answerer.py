"""The answerer and the planner: an answer with its citations, or what is missing; typed steps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fakes.scripted_llm import ScriptedLLM
from iterative_rag.text.citation_markers import renumbered
from iterative_rag.types import Computation, Draft, Inquiry, PlannedStep, PlanTool
from tests.llm.inquiries import INQUIRY, answer, played, roles


@pytest.mark.parametrize(
    ("text", "count", "expected", "cited"),
    [
        ("A [2], b [1], c [2].", 2, "A [1], b [2], c [1].", (1, 0)),
        ("A [1, 3].", 3, "A [1][2].", (0, 2)),
        ("A [1-3].", 3, "A [1][2][3].", (0, 1, 2)),
        ("A [fact 2]. B [Facts 1; 2].", 2, "A [1]. B [2][1].", (1, 0)),
        ("A [7], b [2].", 2, "A, b [1].", (1,)),
        ("A[2]. In [1997] it was 【1】 so.", 2, "A [1]. In it was [2] so.", (1, 0)),
        ("A [0] [-1] [x].", 2, "A [-1] [x].", ()),
        ("A.", 2, "A.", ()),
    ],
)
def test_markers_are_renumbered_in_order_of_first_use(
    text: str, count: int, expected: str, cited: tuple[int, ...]
) -> None:
    assert renumbered(text, count) == (expected, cited)


def answered(*replies: Any) -> tuple[Draft, list[str]]:
    return played(lambda roles: roles.answerer.answer(INQUIRY), answer=replies)


GIVEN = answer(answer="She was 37 [2], as the architect [1].", working="1911 - 1874 = 37")
UNCITED, FALSE = answer(answer="She was 37."), answer(answer="She was 37 [9].")
HELD = answer(answer="It was 1911.", short_answer="1911")


def test_what_is_stated_by_two_quotes_is_one_fact_with_both() -> None:
    first, second = (replace(INQUIRY.facts[0], quote=quote, start=n) for n, quote in enumerate(("By Oda.", "A Brenk.")))
    inquiry = replace(INQUIRY, facts=(first, replace(first, value=""), second, INQUIRY.facts[1]))
    told = answer(answer="Oda Brenk designed it [1] in 1911 [2].", compute=[{"expression": "1 + 1", "facts": [1, 2]}])
    draft, users = played(lambda roles: roles.answerer.answer(inquiry), answer=[told, told])
    assert '[1] Oda Brenk designed it. (Velm Tower: "By Oda."; Velm Tower: "A Brenk.")\n[2] It was' in users[0]
    assert "1 + 1 = 2 [1][2]" in users[1]
    assert draft.cited == (0, 2, 3)
    assert draft.text.startswith("Oda Brenk designed it [1][2] in 1911 [3].")


@pytest.mark.parametrize(
    ("replies", "text", "cited", "confidence", "missing"),
    [
        ([GIVEN], "She was 37 [1], as the architect [2].", (1, 0), 0.9, False),
        ([UNCITED, answer(answer="She was 37 [1].")], "She was 37 [1].", (0,), 0.9, False),
        ([FALSE, FALSE], "She was 37.", (), 0.2, True),
        ([HELD, HELD], "It was 1911. [1]", (1,), 0.5, False),  # a quote holds it
    ],
)
def test_an_answer_with_its_citations(
    replies: list[Any], text: str, cited: tuple[int, ...], confidence: float, missing: bool
) -> None:
    draft, users = answered(*replies)
    assert (draft.answered, draft.text, draft.short_answer) == (True, text, replies[0]["short_answer"])
    assert (draft.cited, draft.confidence, bool(draft.missing)) == (cited, confidence, missing)
    assert all("cites no fact" in user for user in users[1:])


@pytest.mark.parametrize("status", ["not_in_facts", "false_premise"])
def test_an_abstention_says_what_is_missing(status: str) -> None:
    said = "The tower was finished in 1911 [2]."
    draft, _ = answered(answer(status=status, answer=said, short_answer="", missing="her birth"))
    assert not draft.answered
    assert "her birth" in draft.missing
    assert ("untrue" in draft.missing) == (status == "false_premise")
    assert draft.cited == (1,)


def test_the_last_attempt_is_announced() -> None:
    with ScriptedLLM({"answer": [answer(answer="37 [1]")] * 2}) as llm:
        answerer = roles(llm).answerer
        answerer.answer(INQUIRY)
        answerer.answer(INQUIRY, last_attempt=True)
    assert ["last attempt" in request.user for request in llm.requests] == [False, True]


# --- plans ----------------------------------------------------------------------------------------


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
