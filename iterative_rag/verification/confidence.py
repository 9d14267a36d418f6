"""How far to trust an answer: the backend's own word, held down by what reflection and the sources say against it."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.types import Conflict, Draft, Reflection

# The most that an answer is trusted of which a claim stayed unproved, and one that is not what was asked for.
UNPROVED, USELESS = 0.4, 0.2


def confidence(draft: Draft, reflection: Reflection | None = None, conflicts: Sequence[Conflict] = ()) -> float:
    """0 to 1. Of n contradicting values none is trusted more than 1/n, since none is preferred; unless the backend has
    weighed them and cites one side alone. `draft` is as the backend wrote it, before both sides are added.

    An abstention keeps the backend's own word.
    """
    if not draft.answered:
        return round(draft.confidence, 3)
    undecided = (one for one in conflicts if not draft.weighed or _sides_cited(one, draft) != 1)
    bounds = [draft.confidence, *(1 / len(conflict.sides) for conflict in undecided)]
    if reflection is not None:
        if reflection.claims and not reflection.grounded:
            proved = sum(claim.grounded for claim in reflection.claims) / len(reflection.claims)
            bounds.append(UNPROVED * proved)
        if not reflection.useful:
            bounds.append(USELESS)
    return round(min(bounds), 3)


def _sides_cited(conflict: Conflict, draft: Draft) -> int:
    return sum(not set(side.facts).isdisjoint(draft.cited) for side in conflict.sides)
