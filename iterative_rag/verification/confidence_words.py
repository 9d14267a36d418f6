"""The confidence of an answer in words. Each word stands for a measured share of right answers (docs/models.md)."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.types import ConfidenceWord, Conflict, Draft, Inquiry, Reflection
from iterative_rag.verification.measured_thresholds import thresholds

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
