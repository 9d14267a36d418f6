"""Composes the answer out of the facts, or says what is missing."""

from __future__ import annotations

from iterative_rag.builtin.language.lexicon import Kind
from iterative_rag.builtin.question.plan import Either, Lookup, Node
from iterative_rag.builtin.question.query import read_query
from iterative_rag.builtin.reasoning.computing import folded
from iterative_rag.builtin.reasoning.evaluating import Evaluation, Outcome, Value, key
from iterative_rag.types import Draft, Inquiry

# Answers that are trusted less are not given: a direct question has one fact to stand on, and a date is found too
# easily. Chosen on HotpotQA and MuSiQue train rows and on the tuning questions of the starter corpus.
GIVEN, GIVEN_DIRECT, GIVEN_DATE = 0.27, 0.32, 0.38


def compose(inquiry: Inquiry, plan: Node, evaluation: Evaluation) -> Draft:
    outcome = evaluation.of(plan)
    if not outcome.values or outcome.values[0].score < floor(plan):
        return _abstention(inquiry, outcome)
    best = outcome.values[0]
    cited = tuple(dict.fromkeys(best.facts))
    return Draft(
        answered=True,
        text=_sentence(inquiry, best, cited),
        short_answer=best.text,
        cited=cited,
        confidence=round(best.score, 3),
    )


def floor(plan: Node) -> float:
    """The least trust at which an answer to this plan is given."""
    if isinstance(plan, Either):
        return floor(plan.first)
    if not isinstance(plan, Lookup):
        return GIVEN
    if read_query(plan.template).kind in {Kind.YEAR, Kind.DATE}:
        return GIVEN_DATE
    return GIVEN if plan.slots else GIVEN_DIRECT


def _sentence(inquiry: Inquiry, best: Value, cited: tuple[int, ...]) -> str:
    """The answer with its grounds: each fact's need, value and marker."""
    markers: dict[tuple[str, str], str] = {}
    for n, place in enumerate(cited, start=1):
        fact = inquiry.facts[place]
        ground = fact.need.question.rstrip("?"), folded(fact.value)
        markers[ground] = f"{markers.get(ground, f' {fact.value} ')}[{n}]"
    grounds = [f"{question}:{said}" for (question, _), said in markers.items()]
    return f"{best.text}. {'; '.join(grounds)}." if grounds else f"{best.text}."


def _abstention(inquiry: Inquiry, outcome: Outcome) -> Draft:
    answered = {key(fact.need.question) for fact in inquiry.facts}
    missing = outcome.missing or tuple(need.question for need in inquiry.tried if key(need.question) not in answered)
    said = "; ".join(dict.fromkeys(missing)) or inquiry.question
    return Draft(answered=False, text="", missing=f"The corpus does not say: {said}")
