"""An abstention in place of a draft that a reflection refused."""

from __future__ import annotations

from dataclasses import replace

from iterative_rag.types import Draft, Reflection


def abstention(draft: Draft, reflection: Reflection) -> Draft:
    """The draft as an abstention, which names the false premise, the claims without proof or the gap."""
    unproved = "; ".join(claim.text for claim in reflection.claims if not claim.grounded)
    missing = (
        (reflection.false_premise and f"The question assumes something untrue: {reflection.false_premise}")
        or (unproved and f"No fact proves: {unproved}")
        or reflection.gap
        or draft.missing
        or "The facts found do not answer the question that was asked."
    )
    untrue = bool(reflection.false_premise)
    return replace(draft, answered=False, short_answer="", missing=missing, false_premise=untrue)
