"""Reflection by rule, without a call: are the claims of an answer proved, is it of the kind that was asked for?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from iterative_rag.protocols import Reflector
from iterative_rag.types import Claim, Draft, Inquiry, Reflection
from iterative_rag.verification.answer_type import is_of_kind
from iterative_rag.verification.conflicts import with_conflicts
from iterative_rag.verification.disguised_refusals import is_refusal
from iterative_rag.verification.groundedness import Checked, Standing, check

# The confidence from which an answerer says that every step is quoted.
SURE = 0.9


@dataclass(frozen=True, slots=True)
class RuleReflector:
    """Implements protocols.Reflector without a call. With `strict` an open claim counts as not grounded; else only one
    that holds a name or a number that stands nowhere does."""

    strict: bool = False

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """Claims of an answered draft. A draft that answers nothing has none, and is no refusal but what it says."""
        if not draft.answered:
            return Reflection((), useful=False)
        refusal = is_refusal(inquiry, draft)
        useful = not refusal and is_of_kind(inquiry.original, draft.short_answer)
        claims = tuple(_by_rule(checked, self.strict) for checked in check(inquiry, draft))
        return Reflection(claims, useful, refusal)


class ClaimGuard:
    """Implements protocols.Reflector without a call, for strategies that do not reflect: a draft may not name what no
    fact does. It does not check whether the draft answers the question."""

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        return Reflection(RuleReflector().reflect(inquiry, draft).claims)


@dataclass(frozen=True, slots=True)
class UnsureReflector:
    """Implements protocols.Reflector: `reflector` is asked only about a draft that leaves a doubt. The rules leave none
    where they prove every claim; the answerer, where its confidence says that every step is quoted."""

    reflector: Reflector

    def reflect(self, inquiry: Inquiry, draft: Draft) -> Reflection:
        """Raises what `reflector` raises."""
        found = RuleReflector(strict=True).reflect(inquiry, draft)
        sure = found.useful and found.claims and found.grounded and draft.confidence >= SURE
        return found if sure and not with_conflicts(draft, inquiry)[1] else self.reflector.reflect(inquiry, draft)


def _by_rule(checked: Checked, strict: bool) -> Claim:
    if checked.standing is Standing.OPEN and not strict:
        return replace(checked.claim, grounded=True)
    return checked.claim
