"""What is computed from the sides of a closed question."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.plan import Operation
from iterative_rag.builtin.reasoning.computed_values import compute
from iterative_rag.builtin.reasoning.value_agreement import claim_holds


@pytest.mark.parametrize(
    ("operation", "values", "labels", "unit", "expected"),
    [
        (Operation.BOTH, ["yes", "yes"], [], "", "Yes"),
        (Operation.BOTH, ["yes", "no"], [], "", "No"),
        (Operation.EITHER, ["no", "yes"], [], "", "Yes"),
        (Operation.EITHER, ["no", "no"], [], "", "No"),
        (Operation.CHOICE, ["no", "yes"], ["A", "B"], "", "B"),
        (Operation.CHOICE, ["no", "yes"], ["A", "B"], "no", "A"),
        (Operation.CHOICE, ["no", "no"], ["A", "B"], "", "A"),
        (Operation.SAME, ["American", "United States"], [], "", "Yes"),
        (Operation.SAME, ["Lyon, France", "Paris, France"], [], "", "No"),
        (Operation.SAME, ["actor, director", "director, producer"], [], "", "Yes"),
        (Operation.SAME, ["Jiangsu province, China", "Jiangxi province, China"], [], "part", "No"),
        (Operation.SAME, ["United States", "Louisiana"], [], "part", None),
    ],
)
def test_computing(operation: Operation, values: list[str], labels: list[str], unit: str, expected: str | None) -> None:
    worked = compute(operation, values, labels, unit)
    assert (worked and worked.text) == expected


@pytest.mark.parametrize(
    ("values", "trusts", "expected"),
    [(["yes", "yes"], [0.6, 0.9], "B"), (["no", "no"], [0.7, 0.4], "B"), (["no", "no"], [0.4, 0.7], "A")],
)
def test_of_two_that_say_the_same_trust_decides(values: list[str], trusts: list[float], expected: str) -> None:
    worked = compute(Operation.CHOICE, values, ["A", "B"], "", trusts)
    assert worked is not None
    assert worked.text == expected


@pytest.mark.parametrize(
    ("claimed", "value", "quote", "holds"),
    [
        ("Tellby", "Tellby, Orm", "", True),
        ("Tellby", "Aldermere, Orm", "", False),
        ("France", "Dijon, France", "", True),
        ("France", "Aldermere", "", None),  # the country of the town is not told
        ("France", "Toronto, Canada", "", False),
        ("Dijon", "France", "", None),
        ("Velm Hills", "Tellby", "Born: Tellby, Velm Hills", None),
        ("Ann Lee", "Ann Orr", "", False),
        ("1931", "3 March 1931", "", True),
        ("3 March 1931", "5 March 1931", "", False),
        ("3 March 1931", "1931", "", None),
        ("1931", "1930", "", False),
        ("1931", "1929–1931", "", True),
        ("330 m", "1,083 ft", "", True),
        ("16", "12 arches", "", False),
    ],
)
def test_a_claim_holds_as_far_as_the_value_tells(claimed: str, value: str, quote: str, holds: bool | None) -> None:
    assert claim_holds(claimed, value, quote) is holds
