"""The roles that follow the plan of a question: analyst, planner, rephraser and answerer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iterative_rag.builtin.language.nouns import possessive
from iterative_rag.builtin.question.antecedents import unnamed_in
from iterative_rag.builtin.question.plan import Literal, Lookup, Node, slots_of
from iterative_rag.builtin.question.question_planner import QuestionPlanner
from iterative_rag.builtin.question.request_forms import first_question, restated
from iterative_rag.builtin.reasoning.answer_trust import AnswerTrust, Thresholds, weakest_step
from iterative_rag.builtin.reasoning.answering import compose
from iterative_rag.builtin.reasoning.node_result import NodeResult
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation, render
from iterative_rag.types import Analysis, Draft, Fact, Inquiry, Known, Need, Needs, Plan, PlannedStep, Stuck


class PlannedRoles:
    """Implements protocols.Analyst, Planner, Rephraser and Answerer on one plan, so that they cannot disagree. Every
    call evaluates the plan from the facts alone."""

    def __init__(self, planner: QuestionPlanner, caution: Thresholds, trust: AnswerTrust = weakest_step) -> None:
        self._planner, self._caution, self._trust = planner, caution, trust

    def _evaluated(self, inquiry: Inquiry) -> tuple[Node, Evaluation, NodeResult]:
        node, evaluation = self._planner.plan(inquiry.original), Evaluation(inquiry, self._caution, self._trust)
        unnamed = unnamed_in(self._planner.read(inquiry.original).question)
        return node, evaluation, NodeResult(missing=(unnamed,), unnamed=True) if unnamed else evaluation.of(node)

    def analyse(self, inquiry: Inquiry) -> Analysis:
        _, _, outcome = self._evaluated(inquiry)
        if outcome.values:
            return Known()
        if outcome.needs:
            return Needs(tuple(Need(question) for question in outcome.needs))
        return Stuck(f"Not found: {'; '.join(outcome.missing) or inquiry.question}")

    def plan(self, inquiry: Inquiry, before: Plan | None = None) -> Plan:
        """The look-ups possible now, then those that depend on them. The previous plan is ignored."""
        tree, evaluation, outcome = self._evaluated(inquiry)
        if outcome.values:
            return Plan((), "The facts answer the question.")
        if not outcome.needs:
            return Plan((), f"Not found: {'; '.join(outcome.missing) or inquiry.original}")
        later = [
            question
            for question in dict.fromkeys(_lookups(tree, evaluation))
            if question not in outcome.needs and not inquiry.looks(Need(question))
        ]
        return Plan(tuple(PlannedStep(question) for question in (*outcome.needs, *later)))

    def rephrase(self, inquiry: Inquiry, found: Sequence[Fact]) -> str:
        """The question with every resolved description replaced by its value, outermost first."""
        known = set(inquiry.facts)
        grown = replace(inquiry, facts=(*inquiry.facts, *(fact for fact in found if fact not in known)))
        tree, evaluation, _ = self._evaluated(grown)
        text = " ".join(inquiry.original.split())
        for node in _descendants(tree):
            outcome = evaluation.of(node)
            if outcome.values and not isinstance(node, Literal):
                text = _replaced(text, node.source, outcome.values[0].text)
        return text

    def answer(self, inquiry: Inquiry, *, last_attempt: bool = False, advice: str = "") -> Draft:
        """Compose the answer. `advice` is ignored: the answer states nothing beyond the facts."""
        read = self._planner.read(inquiry.original)
        _, evaluation, outcome = self._evaluated(inquiry)
        draft = compose(inquiry, read.question, outcome, evaluation, last_attempt=last_attempt)
        if draft.answered and first_question(plain := restated(inquiry.original)) != plain:
            rest = "This answers a part of the question: ask the rest by itself."
            draft = replace(draft, caveats=(*draft.caveats, rest))
        return replace(draft, taken_as=read.taken)


def _lookups(node: Node, evaluation: Evaluation) -> Iterator[str]:
    """The look-ups at and below a node in the order of their dependencies, with the values found so far filled in."""
    for slot in slots_of(node):
        yield from _lookups(slot, evaluation)
    if isinstance(node, Lookup):
        choices = [evaluation.of(slot).values for slot in node.slots]
        texts = [values[0].text if values else slot.source for values, slot in zip(choices, node.slots, strict=True)]
        yield render(node.template, texts)


def _descendants(node: Node) -> Iterator[Node]:
    """All nodes below `node`, outer before inner."""
    level = slots_of(node)
    while level:
        yield from level
        level = tuple(child for item in level for child in slots_of(item))


def _replaced(text: str, phrase: str, value: str) -> str:
    if len(phrase) < 3:
        return text
    pattern = rf"(?<!\w){re.escape(phrase)}(?P<own>['’]s?)?(?!\w)"
    return re.sub(pattern, lambda match: possessive(value) if match["own"] else value, text, count=1)
