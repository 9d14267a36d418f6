"""How far to trust an answer: the backend's own word, held down by what reflection and the sources say against it."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.text.folding import folded
from iterative_rag.types import Conflict, Draft, Fact, Reflection, Support
from iterative_rag.verification.measured_thresholds import thresholds

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
    undecided = (one for one in conflicts if not draft.weighed or _sides_cited(one, draft) != 1)
    bounds = [draft.confidence, *(1 / len(conflict.sides) for conflict in undecided)]
    measured, support = thresholds(), _least_support([facts[place] for place in draft.cited if place < len(facts)])
    if support is Support.DISAGREES:
        bounds.append(BELOW * measured.likely)
    elif support is Support.SILENT:
        bounds.append(BELOW * measured.well_supported)
    if reflection is not None:
        if reflection.claims and not reflection.grounded:
            proved = sum(claim.grounded for claim in reflection.claims) / len(reflection.claims)
            bounds.append(UNPROVED * proved)
        if not reflection.useful:
            bounds.append(USELESS)
    return round(min(bounds), 3)


def _sides_cited(conflict: Conflict, draft: Draft) -> int:
    return sum(not set(side.facts).isdisjoint(draft.cited) for side in conflict.sides)


def _least_support(cited: Sequence[Fact]) -> Support | None:
    """How well the value that is supported least is: each by the best of its quotes. None where nobody was asked."""
    order = list(Support)
    best: dict[tuple[str, str], int] = {}
    for fact in cited:
        if fact.support is not None:
            key = (fact.need.key, folded(fact.value))
            best[key] = min(order.index(fact.support), best.get(key, len(order)))
    return order[max(best.values())] if best else None
