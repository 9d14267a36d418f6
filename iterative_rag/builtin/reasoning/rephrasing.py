"""Puts what was found into the question, in place of the words that it answers."""

from __future__ import annotations

import re

from iterative_rag.builtin.question.plan import Literal, Node, slots_of
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation


def rephrased(question: str, plan: Node, evaluation: Evaluation) -> str:
    """The question with every resolved description replaced, the outermost first."""
    text = " ".join(question.split())
    for node in _below(plan):
        outcome = evaluation.of(node)
        if outcome.values and not isinstance(node, Literal):
            text = _put(text, node.source, outcome.values[0].text)
    return text


def _below(node: Node) -> list[Node]:
    """All nodes under `node`, the outer before the inner."""
    found: list[Node] = []
    level = list(slots_of(node))
    while level:
        found += level
        level = [child for item in level for child in slots_of(item)]
    return found


def _put(text: str, phrase: str, value: str) -> str:
    if len(phrase) < 3:
        return text
    pattern = rf"(?<!\w){re.escape(phrase)}(?P<own>['’]s?)?(?!\w)"

    def swap(match: re.Match[str]) -> str:
        return f"{value}'s" if match["own"] else value

    return re.sub(pattern, swap, text, count=1)
