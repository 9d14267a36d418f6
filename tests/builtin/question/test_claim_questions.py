"""Claims: which value is looked up, and which one is claimed."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Literal, Lookup, Operation


@pytest.mark.parametrize(
    ("question", "asked", "claimed"),
    [
        ("Was Ann Lee born in Tellby?", "Where was Ann Lee born?", "Tellby"),
        ("Did Ann Lee die in Tellby?", "Where did Ann Lee die?", "Tellby"),
        ("Did the Orm Bridge open in 1931?", "When did the Orm Bridge open?", "1931"),
        ("Was the Orm Bridge designed by Bo Orr?", "Who was the Orm Bridge designed by?", "Bo Orr"),
        ("Did Bo Orr design the Orm Bridge?", "Who did design the Orm Bridge?", "Bo Orr"),
        ("Is the Orm Bridge in Tellby?", "Where is the Orm Bridge?", "Tellby"),
        ("Is Tellby the capital of Orm?", "What is the capital of Orm?", "Tellby"),
        ("Did Ann Lee win the Harp Prize in Physics?", "In what did Ann Lee win the Harp Prize?", "Physics"),
        ("Does the Orm Bridge cross the Vell?", "What does the Orm Bridge cross?", "Vell"),
        ("Does the Orr flow into the Vell?", "Into what does the Orr flow?", "Vell"),
        ("Does the Orm Bridge have 16 arches?", "How many arches does the Orm Bridge have?", "16"),
    ],
)
def test_the_value_of_a_claim_is_asked_for(question: str, asked: str, claimed: str) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.HOLDS
    value, look_up, closed = plan.operands
    assert value == Literal(claimed)
    assert isinstance(look_up, Lookup)
    assert look_up.template == asked
    assert closed == Lookup("", question)


@pytest.mark.parametrize("question", ["Did Ann Lee never marry?", "Is Ann Lee a painter?", "Was Ann Lee tall?"])
def test_a_claim_without_a_value_at_its_end_is_asked_as_it_stands(question: str) -> None:
    assert isinstance(parse(question), Lookup)
