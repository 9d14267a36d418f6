"""Joins the two sides of a comparison or double condition, even if one was not found."""

from __future__ import annotations

import itertools
from dataclasses import replace

from iterative_rag.builtin.question.plan import Computed, Operation
from iterative_rag.builtin.reasoning.node_result import NodeResult, NodeValue
from iterative_rag.builtin.reasoning.value_agreement import agree

# Factor of the trust if one of two conditions was not found.
HALF_MET = 0.75
# Least share of the best trust at which another value is considered as the shared one.
ALSO = 0.5


def decide_by_one(node: Computed, operands: list[NodeResult]) -> NodeValue | None:
    """The value that one side decides alone: "no" for "both", "yes" for "which"; None if it does not."""
    deciding = {Operation.BOTH: "no", Operation.CHOICE: "yes"}
    for index, operand in enumerate(operands):
        value = operand.values[0] if operand.values else None
        if value and value.text == deciding.get(node.operation):
            text = node.labels[index].source if node.operation is Operation.CHOICE else value.text.capitalize()
            return replace(value, text=text, score=value.score * HALF_MET, chain=value.chain * HALF_MET)
    return None


def pick_agreeing(operands: list[NodeResult]) -> list[NodeValue]:
    """A pair of values that agree and are each nearly as good as the best; otherwise the two best."""
    first, second = operands
    for value, other in itertools.product(first.values, second.values):
        near = value.score >= ALSO * first.values[0].score and other.score >= ALSO * second.values[0].score
        if near and agree(value.text, other.text):
            return [value, other]
    return [first.values[0], second.values[0]]
