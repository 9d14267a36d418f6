"""What is computed from the sides of a closed question."""

from __future__ import annotations

import pytest

from iterative_rag.builtin.question.plan import Operation
from iterative_rag.builtin.reasoning.computed_values import compute


@pytest.mark.parametrize(
    ("operation", "values", "labels", "unit", "expected"),
    [
        (Operation.BOTH, ["yes", "yes"], [], "", "Yes"),
        (Operation.BOTH, ["yes", "no"], [], "", "No"),
        (Operation.CHOICE, ["no", "yes"], ["A", "B"], "", "B"),
        (Operation.CHOICE, ["no", "no"], ["A", "B"], "", "A"),
        (Operation.SAME, ["American", "United States"], [], "", "Yes"),
        (Operation.SAME, ["Lyon, France", "Paris, France"], [], "", "No"),
        (Operation.SAME, ["actor, director", "director, producer"], [], "", "Yes"),
        (Operation.SAME, ["Jiangsu province, China", "Jiangxi province, China"], [], "part", "No"),
        (Operation.SAME, ["United States", "Louisiana"], [], "part", None),
    ],
)
def test_computing(operation: Operation, values: list[str], labels: list[str], unit: str, expected: str | None) -> None:
    worked = compute(operation, values, labels, unit, [0.5, 0.5])
    assert (worked and worked.text) == expected


@pytest.mark.parametrize(
    ("values", "trusts", "expected"),
    [(["yes", "yes"], [0.6, 0.9], "B"), (["no", "no"], [0.7, 0.4], "B"), (["no", "no"], [0.4, 0.7], "A")],
)
def test_of_two_that_say_the_same_trust_decides(values: list[str], trusts: list[float], expected: str) -> None:
    worked = compute(Operation.CHOICE, values, ["A", "B"], "", trusts)
    assert worked is not None
    assert worked.text == expected
