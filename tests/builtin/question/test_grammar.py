"""Plans of the hand-written rules, on invented names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Lookup, NamePart, Node, Operation, Part, slots_of


def lookups(node: Node) -> list[Lookup]:
    """The look-ups of a plan, innermost first."""
    found = [lookup for child in slots_of(node) for lookup in lookups(child)]
    return [*found, node] if isinstance(node, Lookup) else found


def needs(question: str) -> list[str]:
    """The templates of a plan, innermost first."""
    plan = parse(question)
    return [lookup.template for lookup in lookups(plan)] if plan else []


PLANS: list[dict[str, Any]] = [
    json.loads(line) for line in Path(__file__).with_name("plans.jsonl").read_text("utf-8").splitlines()
]


@pytest.mark.parametrize("row", PLANS, ids=lambda row: row["question"])
def test_what_is_looked_up_and_what_is_computed(row: dict[str, Any]) -> None:
    plan = parse(row["question"])
    assert (needs(row["question"])[: len(row["asks"])], plan is None) == (row["asks"], not row["asks"])
    if "computes" in row:
        assert isinstance(plan, Computed)
        assert f"{plan.operation.name.lower()} {plan.unit}".strip() == row["computes"]


def test_the_parts_of_a_name_are_looked_up_side_by_side() -> None:
    plan = parse(
        "If my cat has the same first name as the 4th queen of Orm's mother and her surname is the same as the second "
        "drowned admiral's mother's maiden name, what is her name?"
    )
    assert isinstance(plan, Computed)
    assert plan.operation is Operation.JOIN
    first, last = plan.operands
    assert isinstance(first, NamePart)
    assert isinstance(last, NamePart)
    assert (first.part, last.part) == (Part.FIRST, Part.MAIDEN)
    assert [lookup.template for lookup in lookups(first)] == ["Who is the 4th queen of Orm?", "Who is {0}'s mother?"]
    assert [lookup.template for lookup in lookups(last)] == [
        "Who is the second drowned admiral?",
        "Who is {0}'s mother?",
    ]


WORDS = (
    "who what which when the of in Ann Orley Brell's mother that was born died first and or , ? than how many years "
    "after same name whose is { } 1912 's ("
)
QUESTION_LIKE = st.lists(st.sampled_from(WORDS.split()), max_size=40).map(" ".join)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), QUESTION_LIKE))
def test_no_text_breaks_the_grammar(text: str) -> None:
    plan = parse(text)
    for lookup in lookups(plan) if plan else ():
        # Every placeholder of a template has its slot, and no other brace is left.
        assert lookup.template.format(*("x" for _ in lookup.slots)) is not None
