"""How far to trust an answer, as a number and in words: the backend's own word, held down by what reflection and the
sources say against it. Each word stands for a measured share of right answers (docs/models.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import table_beside
from iterative_rag.types import ConfidenceWord, Conflict, Draft, Fact, Inquiry, Reflection, Support

FILE = Path(__file__).with_name("measured_thresholds.toml")


@dataclass(frozen=True, slots=True)
class MeasuredThresholds:
    """`well_supported` and `likely` are the least confidence of each word. `near_names` and `near_score` are the
    weights of the names held and of the best score, `near_least` what they have to come to."""

    well_supported: float
    likely: float
    near_names: float
    near_score: float
    near_least: float

    def is_near(self, names_held: float, best_score: float) -> bool:
        return self.near_names * names_held + self.near_score * best_score >= self.near_least


def thresholds() -> MeasuredThresholds:
    return MeasuredThresholds(**table_beside(__file__, FILE.name))


# The most that an answer is trusted of which a claim stayed unproved, and one that is not what was asked for.
UNPROVED, USELESS = 0.4, 0.2
# The most that an answer is trusted if a quote does not bear out a value: this share of where the next word begins.
BELOW = 0.98


def confidence(
    draft: Draft,
    reflection: Reflection | None = None,
    conflicts: Sequence[Conflict] = (),
    facts: Sequence[Fact] = (),
) -> float:
    """0 to 1. Of n contradicting values none is trusted more than 1/n, since none is preferred; unless the backend has
    weighed them and cites one side alone. An answer is as well supported as the value of its chain that is least so.
    `draft` is as the backend wrote it, before both sides are added, `facts` are those of the inquiry.

    An abstention keeps the backend's own word.
    """
    if not draft.answered:
        return round(draft.confidence, 3)
    bounds = [draft.confidence]
    for conflict in conflicts:
        cited = [side for side in conflict.sides if not set(side.facts).isdisjoint(draft.cited)]
        if not draft.weighed or len(cited) != 1:
            bounds.append(1 / len(conflict.sides))
    measured, support = thresholds(), least_support([facts[index] for index in draft.cited if index < len(facts)])
    if support is Support.DISAGREES:
        bounds.append(BELOW * min(GUESSED, measured.likely))
    elif support is Support.SILENT:
        bounds.append(BELOW * measured.well_supported)
    if reflection is not None:
        if reflection.claims and not reflection.grounded:
            proved = sum(claim.grounded for claim in reflection.claims) / len(reflection.claims)
            bounds.append(UNPROVED * proved)
        if not reflection.useful:
            bounds.append(USELESS)
    return round(min(bounds), 3)


def least_support(cited: Sequence[Fact]) -> Support | None:
    """How well the value that is supported least is: each by the best of its quotes. None where nobody was asked."""
    order = list(Support)
    best: dict[tuple[str, str], int] = {}
    for fact in cited:
        if fact.support is not None:
            key = (fact.need.key, folded(fact.value))
            best[key] = min(order.index(fact.support), best.get(key, len(order)))
    return order[max(best.values())] if best else None


# What a model is told to state at least where every step is quoted; an inferred step has 0.6 at most.
QUOTED = 0.9
# An answer that is trusted less is a guess, whoever gives it.
GUESSED = 0.5


def by_confidence(confidence: float) -> ConfidenceWord:
    """For the built-in backend, whose confidence was measured."""
    measured = thresholds()
    if confidence >= measured.well_supported:
        return ConfidenceWord.WELL_SUPPORTED
    return ConfidenceWord.LIKELY if confidence >= measured.likely else ConfidenceWord.WEAK_GUESS


def by_evidence(
    inquiry: Inquiry, draft: Draft, confidence: float, reflection: Reflection | None, conflicts: Sequence[Conflict]
) -> ConfidenceWord:
    """For an LLM, whose own confidence was not: what its answer rests on decides. A last attempt, an answer without a
    quote and one value of several that contradict each other are guesses; a step that is inferred, or a claim that the
    rules cannot prove by a quote, leaves an answer likely."""
    undecided = bool(conflicts) and confidence <= 1 / min(len(conflict.sides) for conflict in conflicts)
    if draft.last_attempt or not draft.cited or undecided or confidence < GUESSED:
        return ConfidenceWord.WEAK_GUESS
    if confidence < QUOTED or draft.caveats or not _is_proved(inquiry, draft, reflection):
        return ConfidenceWord.LIKELY
    return ConfidenceWord.WELL_SUPPORTED


def _is_proved(inquiry: Inquiry, draft: Draft, reflection: Reflection | None) -> bool:
    """Whether every claim is proved: by the reflection, else by the rules."""
    if reflection is None or not reflection.claims:
        from iterative_rag.verification.rule_reflector import RuleReflector

        reflection = RuleReflector(strict=True).reflect(inquiry, draft)
    return bool(reflection.claims) and reflection.grounded and reflection.useful
