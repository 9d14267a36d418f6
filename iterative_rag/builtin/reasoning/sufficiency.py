"""Judges sufficiency without an LLM: whether the plan has a trusted answer, and otherwise which look-up is missing."""

from __future__ import annotations

from iterative_rag.builtin.question.plan import Fallback, Node
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.reasoning.answer_trust import AnswerTrust, weakest_step
from iterative_rag.builtin.reasoning.node_result import NodeResult
from iterative_rag.builtin.reasoning.plan_evaluation import LOOKS, Evaluation
from iterative_rag.builtin.reasoning.thresholds import Thresholds
from iterative_rag.types import Inquiry, Need, Sufficiency


class BuiltinSufficiencyJudge:
    """Implements protocols.SufficiencyJudge on the analyst's plan, so that the two cannot disagree."""

    def __init__(self, planner: QuestionPlanner, caution: Thresholds, trust: AnswerTrust = weakest_step) -> None:
        self._planner, self._caution, self._trust = planner, caution, trust

    def judge(self, inquiry: Inquiry) -> Sufficiency:
        plan = self._planner.plan(inquiry.original)
        evaluation = Evaluation(inquiry, self._caution, self._trust)
        outcome = evaluation.of(plan)
        if outcome.values and evaluation.trusted(inquiry.original, outcome.values) >= self._caution.given:
            return Sufficiency(True)
        gap = _missing(plan, evaluation, outcome) or _weakest(inquiry, outcome)
        said = gap or "; ".join(outcome.missing) or inquiry.question
        return Sufficiency(False, gap, f"{'Not sure enough' if outcome.values else 'Missing'}: {said}")


def _missing(plan: Node, evaluation: Evaluation, outcome: NodeResult) -> str:
    """The first look-up that the plan still needs or may repeat; "" if there is none."""
    open_ones = [*outcome.needs, *outcome.again]
    if isinstance(plan, Fallback):
        first = evaluation.of(plan.first)
        open_ones += [*first.needs, *first.again]
    return next(iter(open_ones), "")


def _weakest(inquiry: Inquiry, outcome: NodeResult) -> str:
    """The look-up of the least trusted fact behind the value that may still be repeated; "" if there is none."""
    places = outcome.values[0].facts if outcome.values else ()
    for place in sorted(places, key=lambda place: inquiry.facts[place].score):
        question = inquiry.facts[place].need.question
        if inquiry.looks(Need(question)) < LOOKS:
            return question
    return ""
