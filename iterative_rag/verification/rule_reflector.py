"""Reflection by rule, without a call: are the claims of an answer proved, is it of the kind that was asked for, does
it follow from quotes without standing in them?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from iterative_rag.protocols import Reflector
from iterative_rag.text.languages import language
from iterative_rag.types import Draft, Inquiry, Reflection
from iterative_rag.verification.answer_type import is_of_kind, is_refusal
from iterative_rag.verification.claim_matching import match_claim, split_claims
from iterative_rag.verification.confidence import QUOTED
from iterative_rag.verification.conflicts import with_conflicts
from iterative_rag.verification.evidence import read_evidence
from iterative_rag.verification.groundedness import Standing, check
from iterative_rag.verification.text_reading import read_text


@dataclass(frozen=True, slots=True)
class RuleReflector:
    """Implements protocols.Reflector without a call. With `strict` an open claim counts as not grounded; else only one
    that holds a name or a number that stands nowhere does."""

    strict: bool = False

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """Claims of an answered draft. A draft that answers nothing has none, and is no refusal but what it says."""
        refusal = is_refusal(inquiry, draft)
        passing = None if self.strict else Standing.OPEN
        useful = draft.answered and not refusal and is_of_kind(inquiry.original, draft.short_answer)
        claims = tuple(
            replace(checked.claim, grounded=True) if checked.standing is passing else checked.claim
            for checked in check(inquiry, draft)
        )
        return Reflection(claims, useful, refusal)


@dataclass(frozen=True, slots=True)
class ClaimGuard:
    """Implements protocols.Reflector without a call, for strategies that do not reflect: a draft may not name what no
    fact does. It does not check whether the draft answers the question. With `inferred`, the number, date or period of
    the short answer may stand in no fact ("about 700 years" for a bridge of 1310); a name that no fact has is
    remembered, not inferred."""

    inferred: bool = False

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        if self.inferred:
            short = draft.short_answer
            values = read_text(short, language(draft.text) or language(inquiry.original)).values
            allowed = " ".join(short[value.start : value.end] for value in values)
            inquiry = replace(inquiry, original=f"{inquiry.original} {allowed}".strip())
        return Reflection(RuleReflector().reflect(inquiry, draft).claims)


@dataclass(frozen=True, slots=True)
class UnsureReflector:
    """Implements protocols.Reflector: `reflector` is asked only about a draft that leaves a doubt. The rules leave none
    where they prove every claim; the answerer, where its confidence says that every step is quoted."""

    reflector: Reflector

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """Raises what `reflector` raises."""
        reflection = RuleReflector(strict=True).reflect(inquiry, draft)
        sure = reflection.useful and reflection.claims and reflection.grounded and draft.confidence >= QUOTED
        return reflection if sure and not with_conflicts(draft, inquiry)[1] else self.reflector.reflect(inquiry, draft)


# The most that an inferred answer is trusted: as much as one that rests on a step that no fact states.
INFERRED_CONFIDENCE = 0.6
CAVEAT = "The answer is inferred from the quotes; none of them says it."


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
    concludes = any(
        claim.is_bare
        or any(part.held_by or part.asked for part in claim.parts)
        or any(word.held_by or word.comparing for word in claim.words)
        for claim in (match_claim(said, said.text, evidence) for said in split_claims(short))
    )
    return not (concludes or any(proof.foreign for proof in evidence.proofs))
