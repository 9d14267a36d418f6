"""Rephrases a question by replacing its resolved descriptions with their values."""

from __future__ import annotations

import re

from iterative_rag.builtin.question.plan import Literal, Node, slots_of
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation


def insert_values(question: str, plan: Node, evaluation: Evaluation) -> str:
    """Replace every resolved description by its value, outermost first."""
    text = " ".join(question.split())
    for node in _descendants(plan):
        outcome = evaluation.of(node)
        if outcome.values and not isinstance(node, Literal):
            text = _replace(text, node.source, outcome.values[0].text)
    return text


def _descendants(node: Node) -> list[Node]:
    """All nodes below `node`, outer before inner."""
    found: list[Node] = []
    level = list(slots_of(node))
    while level:
        found += level
        level = [child for item in level for child in slots_of(item)]
    return found


def _replace(text: str, phrase: str, value: str) -> str:
    if len(phrase) < 3:
        return text
    pattern = rf"(?<!\w){re.escape(phrase)}(?P<own>['’]s?)?(?!\w)"

    def swap(match: re.Match[str]) -> str:
        return f"{value}'s" if match["own"] else value

    return re.sub(pattern, swap, text, count=1)
