"""Closed questions and choices: what is asked of each side."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Lookup, Operation


@pytest.mark.parametrize(
    ("question", "operation", "expected"),
    [
        (
            "Are Ann Lee and Bo Orm both film directors?",
            Operation.BOTH,
            ["Is Ann Lee a film director?", "Is Bo Orm a film director?"],
        ),
        (
            "Are both magazines, the Orm Review and Tell Me, British publications?",
            Operation.BOTH,
            ["Is the magazine the Orm Review a British publication?", "Is the magazine Tell Me a British publication?"],
        ),
        (
            "Are both Ann Lee and Bo Orm American?",
            Operation.BOTH,
            ["Is Ann Lee American?", "Is Bo Orm American?"],
        ),
        (
            "Are Dawn and Lost in Tell both animated features?",
            Operation.BOTH,
            ["Is Dawn an animated feature?", "Is Lost in Tell an animated feature?"],
        ),
        (
            "Did Ann Lee and Bo Orm both win a doubles title?",
            Operation.BOTH,
            ["Did Ann Lee win a doubles title?", "Did Bo Orm win a doubles title?"],
        ),
        (
            "Which singer is American, Ann Lee or Bo Orm?",
            Operation.CHOICE,
            ["Is the singer Ann Lee American?", "Is the singer Bo Orm American?"],
        ),
        (
            "Which canal was built between 1836 and 1847, Orm Canal or Tell Canal?",
            Operation.CHOICE,
            ["Was Orm Canal built between 1836 and 1847?", "Was Tell Canal built between 1836 and 1847?"],
        ),
        (
            "Which magazine ran for only one year, Dawn or Dusk?",
            Operation.CHOICE,
            ["Did the magazine Dawn run for only one year?", "Did the magazine Dusk run for only one year?"],
        ),
        (
            "Which film, Dawn or Dusk, was released first?",
            Operation.LEAST,
            ["When did Dawn come out?", "When did Dusk come out?"],
        ),
        (
            "Between the two bands Orm and Tell, which group formed earlier?",
            Operation.LEAST,
            ["When was the band Orm founded or published?", "When was the band Tell founded or published?"],
        ),
        (
            "Who is younger Ann Lee or Bo Orm?",
            Operation.GREATEST,
            ["When was Ann Lee born?", "When was Bo Orm born?"],
        ),
        (
            "Which city has a higher population, Orm or Tell?",
            Operation.GREATEST,
            ["What is the population of Orm?", "What is the population of Tell?"],
        ),
        (
            "Do Ann Lee and Bo Orm have the same occupation?",
            Operation.SAME,
            ["What is the occupation of Ann Lee?", "What is the occupation of Bo Orm?"],
        ),
    ],
)
def test_each_side_is_asked(question: str, operation: Operation, expected: list[str]) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert plan.operation is operation
    assert [operand.template for operand in plan.operands if isinstance(operand, Lookup)] == expected


@pytest.mark.parametrize(
    ("question", "template"),
    [
        ("Are the director of Dawn and the director of Dusk both American?", "Is {0} American?"),
    ],
)
def test_a_side_that_is_described_is_looked_up_first(question: str, template: str) -> None:
    plan = parse(question)
    assert isinstance(plan, Computed)
    assert [operand.template for operand in plan.operands if isinstance(operand, Lookup)] == [template] * 2
    assert all(isinstance(operand, Lookup) and operand.slots for operand in plan.operands)
