"""The answering role and its calculator, with scripted replies: what is computed, cited, shown and checked."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.counting_budget import CountingBudget
from fakes.scripted_llm import ScriptedLLM
from iterative_rag.llm.llm_backend import LLMBackend
from iterative_rag.llm.replies.forms import AnswerReply
from iterative_rag.llm.replies.json_parsing import parse
from iterative_rag.settings import Settings
from iterative_rag.types import Computation, Draft, Fact, Inquiry, Need

NEED = Need("When was Velm Tower finished?")


def fact(start: int, statement: str, value: str, quote: str) -> Fact:
    return Fact(statement, quote, value, "velm", "Velm Tower", "velm.md", start, start + 9, NEED, 1.0)


FACTS = (
    fact(0, "Velm Tower was finished in May 1911.", "1911", "Building ended in May 1911."),
    fact(10, "Oda Brenk designed it.", "Oda Brenk", "It was designed by Oda Brenk."),
    fact(20, "Oda Brenk was born on 3 March 1874.", "3 March 1874", "Oda Brenk (3 March 1874 - 1950)."),
)
INQUIRY = Inquiry("How old was the architect?", "How old was Oda Brenk?", FACTS, (NEED,))
AGE = {"expression": "age(3 March 1874, May 1911)", "facts": [3, 1]}


def asks(*computations: Any, **fields: Any) -> dict[str, Any]:
    return {"status": "compute", "compute": list(computations), "confidence": 0.5, **fields}


def says(answer: str = "She was 37 [2].", **fields: Any) -> dict[str, Any]:
    return {"status": "answered", "answer": answer, "short_answer": "37", "confidence": 0.9, **fields}


def answered(*replies: Any, inquiry: Inquiry = INQUIRY, **options: Any) -> tuple[Draft, list[str]]:
    """The draft, and the user's part of each prompt."""
    with ScriptedLLM({"answer": list(replies)}) as llm:
        draft = LLMBackend(llm, None, None, Settings()).roles(CountingBudget()).answerer.answer(inquiry, **options)
    return draft, [request.user for request in llm.requests]


def test_what_is_asked_for_is_computed_told_cited_and_shown() -> None:
    draft, prompts = answered(asks(AGE), says())
    assert "COMPUTED" not in prompts[0]
    assert "age(3 March 1874, May 1911) = 37 [3][1]" in prompts[1]
    assert draft.text == "She was 37 [1]. age(3 March 1874, May 1911) = 37 [2][3]"
    assert draft.cited == (1, 2, 0)
    assert draft.computations == (Computation("age(3 March 1874, May 1911)", "37", (2, 0)),)
    assert (draft.answered, draft.short_answer, draft.confidence) == (True, "37", 0.9)


def test_an_answer_that_holds_the_results_costs_no_second_call() -> None:
    draft, prompts = answered(says(compute=[AGE]))
    assert len(prompts) == 1
    assert [one.result for one in draft.computations] == ["37"]


def test_a_duration_in_words_and_a_refusal_cost_no_second_call() -> None:
    duration = {"expression": "duration(1 March 1875, 4 May 1911)", "facts": [1]}
    told = says("It took 36 years, 2 months and 3 days [1].", short_answer="so long", compute=[duration])
    refused = says(status="not_in_facts", short_answer="", missing="Her birth.", compute=[AGE])
    assert [len(answered(reply)[1]) for reply in (told, refused)] == [1, 1]


def test_what_was_computed_beside_the_answer_costs_no_second_call() -> None:
    longer = {"expression": "duration(3 March 1874, 5 May 1911)", "facts": [3, 1]}
    assert len(answered(says(compute=[longer, AGE]))[1]) == 1
    assert len(answered(*[says(compute=[AGE, longer])] * 2)[1]) == 2
    other = says(compute=[longer], also=["37 years, 2 months and 2 days, to the day [1]"], short_answer="long")
    assert len(answered(other)[1]) == 1


@pytest.mark.parametrize(("expression", "calls"), [("1874 < 1911", 1), ("1911 < 1874", 2)])
def test_a_comparison_that_holds_need_not_be_told(expression: str, calls: int) -> None:
    asked = says("Oda Brenk designed it [1].", short_answer="Oda Brenk", compute=[{"expression": expression}])
    assert len(answered(*[asked] * calls)[1]) == calls


def test_a_list_in_an_expression_is_no_marker() -> None:
    counted = {"expression": "count([1911, 1874])", "facts": [3, 1]}
    draft, _ = answered(says("She was named twice [2].", short_answer="2", compute=[counted]))
    assert draft.text == "She was named twice [1]. count(1911, 1874) = 2 [2][3]"
    assert draft.computations == (Computation("count([1911, 1874])", "2", (2, 0)),)


@pytest.mark.parametrize(
    ("expression", "written", "calls"),
    [
        ("13 / 3", "It is 4.33 [1].", 1),  # rounded, which took a second call
        ("3 March 1911 - 1 March 1901", "It took 3,654 days [1].", 1),
        ("13 / 3", "It is 4.4 [1].", 2),
        ("duration(3 March 1874, 5 May 1911)", "It took 37 years, 2 months and 2 days [1].", 1),
        ("duration(3 March 1874, 5 May 1911)", "It took 37 years [1].", 1),
        ("duration(3 March 1874, 5 May 1911)", "It took 36 years [1].", 2),
        ("1911 - 1874", "There were 38 of them [1].", 2),
        ("1 May 1911 + 19 years", "That was on May 1, 1930 [1].", 1),  # a date in its other order
        ("1 May 1911 + 19 years", "That was on May 2, 1930 [1].", 2),
        ("days(3 May 1911, 4 May 1911)", "It was one day short [1].", 1),
        ("days(3 May 1911, 4 May 1911)", "It was two days short [1].", 2),
    ],
)
def test_plain_arithmetic_is_checked_in_the_form_in_which_it_is_written(
    expression: str, written: str, calls: int
) -> None:
    _, prompts = answered(
        *[says(written, short_answer="so much", compute=[{"expression": expression, "facts": [1]}])] * calls
    )
    assert len(prompts) == calls


def test_a_refused_expression_is_told_with_its_reason_and_may_be_mended() -> None:
    draft, prompts = answered(asks({"expression": "1911 - birth", "facts": [1]}), asks(AGE), says())
    assert "1911 - birth: refused, 'birth' is not known here" in prompts[1]
    assert "refused" in prompts[2]
    assert "= 37" in prompts[2]
    assert "answer now" in prompts[2]
    assert [one.expression for one in draft.computations] == [AGE["expression"]]


@pytest.mark.parametrize(
    ("asked", "computed"),
    [
        ("1911 - 1874", Computation("1911 - 1874", "37", (0, 2))),  # without facts, those that hold its numbers
        ({"expression": "2 * 3", "facts": [9, 0, 1]}, Computation("2 * 3", "6", (0,))),  # not those that there are not
    ],
)
def test_a_computation_rests_on_its_facts(asked: Any, computed: Computation) -> None:
    assert answered(asks(asked), says())[0].computations == (computed,)


def test_the_parts_of_an_expression_are_computed_where_the_answer_names_them() -> None:
    ages = "age(3 March 1874, May 1911) - age(1 May 1900, May 1911)"
    draft, _ = answered(says("She was 37 [1].", short_answer="26", compute=[{"expression": ages, "facts": [1, 2]}]))
    parts = [Computation(ages, "26", (0, 1)), Computation("age(3 March 1874, May 1911)", "37", (0, 1))]
    assert list(draft.computations) == parts


def test_wrong_arithmetic_of_the_model_is_complained_about_with_what_is_right() -> None:
    draft, prompts = answered(says("She was 36 [2].", working="1911 [1] - 1874 [3] = 36", short_answer="36"), says())
    assert "1911 - 1874 = 37, not 36" in prompts[1]
    assert (draft.short_answer, draft.confidence) == ("37", 0.9)


def test_right_arithmetic_of_the_model_stands_under_the_answer() -> None:
    draft, prompts = answered(says(working="1911 [1] - 1874 [3] = 37"))
    assert len(prompts) == 1
    assert draft.computations == (Computation("1911 - 1874", "37", (0, 2)),)
    assert draft.text == "She was 37 [1]. 1911 − 1874 = 37 [2][3]"


@pytest.mark.parametrize(("given", "places"), [("1.02", 2), ("1", 0), ("1.0", 1)])
def test_right_arithmetic_is_rounded_as_the_answer_gives_it(given: str, places: int) -> None:
    said = f"1911 is about {given} times 1874 [1]."
    draft, prompts = answered(says(said, short_answer=given, working="1,911 / 1,874 = 1.0197, rounded."))
    assert len(prompts) == 1
    assert [step.expression for step in draft.computations] == [f"round(1911 / 1874, {places})"]


def test_another_number_than_the_rounded_one_is_no_result() -> None:
    draft, _ = answered(says("It is about 1.03 times that [1].", short_answer="1.03", working="1911 / 1874 = 1.0197"))
    assert draft.computations == ()


HOSTILE = ["9^9^9^9", "__import__('os').system('id')", "(" * 5000, "9" * 7000, "open('/etc/passwd')"]


@pytest.mark.parametrize("expression", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_expression_is_refused_and_ends_nothing(expression: str) -> None:
    draft, prompts = answered(asks(expression), says())
    assert "refused" in prompts[1] or "holds a word of more than" in prompts[1]
    assert len(prompts[1]) < len(prompts[0]) + 1500
    assert draft.answered
    assert draft.computations == ()


@pytest.mark.parametrize(
    ("compute", "expected"),
    [
        (None, []),
        ("", []),
        ("1 + 2", [("1 + 2", [])]),
        (["1 + 2", {"expression": "3 * 4", "facts": "[1][3]"}], [("1 + 2", []), ("3 * 4", [1, 3])]),
        ({"expression": "5 - 1", "facts": "1, 2"}, [("5 - 1", [1, 2])]),
        ([{"expression": 12, "facts": 3}], [("12", [3])]),
        ([{"expression": "7", "facts": ["[1]", 2]}, {"facts": [1]}, {"expression": ""}, None, []], [("7", [1, 2])]),
        ([{"expression": "8", "facts": None, "why": "because"}], [("8", [])]),
    ],
)
def test_computations_are_read_however_they_are_written(compute: Any, expected: list[tuple[str, list[int]]]) -> None:
    text = f"Sure!\n```json\n{json.dumps({'status': 'Compute', 'compute': compute})}\n```"
    reply = parse(text, AnswerReply)
    assert reply.status == "compute"
    assert [(one.expression, list(one.facts)) for one in reply.compute] == expected
