"""Composes the answer from the facts, or abstains and states what is missing."""

from __future__ import annotations

from dataclasses import replace

from iterative_rag.builtin.language.function_words import folded
from iterative_rag.builtin.question.plan import Node
from iterative_rag.builtin.question.question_planner import as_it_stands
from iterative_rag.builtin.reasoning.node_result import NodeResult, NodeValue
from iterative_rag.builtin.reasoning.plan_evaluation import Evaluation
from iterative_rag.computing.display import shown
from iterative_rag.types import Draft, Inquiry


def compose(inquiry: Inquiry, plan: Node, evaluation: Evaluation, *, last_attempt: bool = False) -> Draft:
    """Draft the answer, or an abstention. In the `last_attempt`, facts found for the question as a whole count too if
    the plan could not be carried out."""
    outcome = evaluation.of(plan)
    if last_attempt and not outcome.values:
        outcome = replace(outcome, values=evaluation.of(as_it_stands(inquiry.original)).values)
    if not outcome.values or outcome.values[0].score < evaluation.caution.to_answer(plan):
        return _abstention(inquiry, outcome)
    best = outcome.values[0]
    cited = tuple(dict.fromkeys(best.facts))
    return Draft(
        answered=True,
        text=_sentence(inquiry, best, cited),
        short_answer=best.text,
        cited=cited,
        confidence=round(best.score, 3),
        computations=best.computations,
    )


def _sentence(inquiry: Inquiry, best: NodeValue, cited: tuple[int, ...]) -> str:
    """The answer with its evidence: each fact's need, value and citation marker, and the computations."""
    markers: dict[tuple[str, str], str] = {}
    for n, place in enumerate(cited, start=1):
        fact = inquiry.facts[place]
        ground = fact.need.question.rstrip("?"), folded(fact.value)
        markers[ground] = f"{markers.get(ground, f' {fact.value} ')}[{n}]"
    grounds = [f"{question}:{said}" for (question, _), said in markers.items()]
    for one in best.computations:
        marks = "".join(f"[{cited.index(place) + 1}]" for place in one.facts)
        grounds.append(f"{shown(one.expression, one.result)} {marks}".rstrip())
    return f"{best.text}. {'; '.join(grounds)}." if grounds else f"{best.text}."


def _abstention(inquiry: Inquiry, outcome: NodeResult) -> Draft:
    answered = {fact.need.key for fact in inquiry.facts}
    missing = outcome.missing or tuple(need.question for need in inquiry.tried if need.key not in answered)
    said = "; ".join(dict.fromkeys(missing)) or inquiry.question
    return Draft(answered=False, text="", missing=f"The corpus does not say: {said}")
