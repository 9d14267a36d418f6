"""Presents the plan of a question as steps: the look-ups possible now, then those that depend on them."""

from __future__ import annotations

from collections.abc import Iterator

from iterative_rag.builtin.question.plan import Lookup, Node, slots_of
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.reasoning.answer_trust import AnswerTrust, weakest_step
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation, render
from iterative_rag.builtin.reasoning.thresholds import Thresholds
from iterative_rag.types import Inquiry, Need, Plan, PlannedStep


class BuiltinPlanner:
    """Implements protocols.Planner. Every call plans from the facts alone, so the previous plan is ignored."""

    def __init__(self, planner: QuestionPlanner, caution: Thresholds, trust: AnswerTrust = weakest_step) -> None:
        self._planner, self._caution, self._trust = planner, caution, trust

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        tree, evaluation = self._planner.plan(inquiry.original), Evaluation(inquiry, self._caution, self._trust)
        outcome = evaluation.of(tree)
        if outcome.values:
            return Plan((), "The facts answer the question.")
        now = outcome.needs or outcome.again
        if not now:
            return Plan((), f"Not found: {'; '.join(outcome.missing) or inquiry.original}")
        later = [
            question
            for question in dict.fromkeys(_lookups(tree, evaluation))
            if outcome.needs and question not in now and not inquiry.looks(Need(question))
        ]
        return Plan(tuple(PlannedStep(question) for question in (*now, *later)))


def _lookups(node: Node, evaluation: Evaluation) -> Iterator[str]:
    """The look-ups at and below a node in the order of their dependencies, with the values found so far filled in."""
    for slot in slots_of(node):
        yield from _lookups(slot, evaluation)
    if isinstance(node, Lookup):
        found = [evaluation.of(slot).values for slot in node.slots]
        texts = [values[0].text if values else slot.source for values, slot in zip(found, node.slots, strict=True)]
        yield render(node.template, texts)
