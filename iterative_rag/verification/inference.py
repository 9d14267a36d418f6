"""Answers that follow from quotes without standing in them: what they may name, and how they are marked."""

from __future__ import annotations

from dataclasses import replace

from iterative_rag.text.folding import folded
from iterative_rag.text.languages import is_function_word, language
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Draft, Inquiry, Reflection
from iterative_rag.verification.claim_matching import match_claim
from iterative_rag.verification.claim_splitting import split_claims
from iterative_rag.verification.evidence import Evidence, read_evidence
from iterative_rag.verification.rule_reflector import ClaimGuard
from iterative_rag.verification.text_reading import read_text

_WORD = lazy_pattern(r"\w+")

# The most that an inferred answer is trusted: as much as one that rests on a step that no fact states.
INFERRED_CONFIDENCE = 0.6
CAVEAT = "The answer is inferred from the quotes; none of them says it."


class InferenceGuard:
    """Implements protocols.Reflector without a call: as ClaimGuard, but the number, date or period of the short answer
    may stand in no fact ("about 700 years" for a bridge of 1310). A name that no fact has is remembered, not inferred.
    """

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        short = draft.short_answer
        values = read_text(short, language(draft.text) or language(inquiry.original)).values
        inferred = " ".join(short[value.start : value.end] for value in values)
        return ClaimGuard().reflect(replace(inquiry, original=f"{inquiry.original} {inferred}".strip()), draft)


def as_inferred(draft: Draft) -> Draft:
    """An answered draft marked as inferred, and trusted no more than that."""
    if not draft.answered:
        return draft
    confidence = min(draft.confidence, INFERRED_CONFIDENCE)
    return replace(draft, confidence=confidence, caveats=(CAVEAT, *draft.caveats))


def is_inferred(inquiry: Inquiry, draft: Draft) -> bool:
    """Whether nothing of an answered draft's short answer stands in a fact, a computation or the question ("spring" for
    a wedding in April). A "yes" and a comparison ("the older one") conclude from facts and are none."""
    short = draft.short_answer
    if not (draft.answered and short):
        return False
    evidence = read_evidence(inquiry, replace(draft, text=short))
    facts = [inquiry.facts[place] for place in draft.cited]
    told = " ".join([*(f"{fact.title} {fact.quote}" for fact in facts), *(one.result for one in draft.computations)])
    shared = _content(short, evidence.code) & _content(told, evidence.code)
    return not (shared or any(proof.foreign for proof in evidence.proofs) or _concludes(short, evidence))


def _concludes(short: str, evidence: Evidence) -> bool:
    claims = [match_claim(said, evidence) for said in split_claims(short)]
    return any(
        claim.is_bare
        or any(part.held_by or part.asked for part in claim.parts)
        or any(word.held_by or word.comparing for word in claim.words)
        for claim in claims
    )


def _content(text: str, code: str) -> frozenset[str]:
    return frozenset(word for word in _WORD.findall(folded(text)) if not is_function_word(word, code))
