"""Whether a run followed the `expected_steps` of a question, and took one of its allowed `courses`.

The checks are those of tool-call trajectories in agent evaluations (exact, in order, any order, subset), with the
values that were found in place of the calls. A step counts as found where a fact's value, or the title of its article,
would be scored right with the step as the accepted answer (`answers.matches`); where a fact has no value, its statement
may hold the step. The facts of one hop are found at the same time: between them there is no order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from iterative_rag.evaluation.records import FoundFact, Hop, QuestionRecord
from iterative_rag.evaluation.scoring.answer_match import matches, stands_in


def check(record: QuestionRecord) -> dict[str, float] | None:
    """The record's course against its expected steps; None where the dataset expects none.

    `exact`: every step, in order, and no hop that brought facts but no step. `in_order`: every step, in order, detours
    aside. `any_order`: every step. `subset`: no detour, though steps may be missing. `found`: the share of the steps.
    """
    steps = record.expected_steps
    if not steps:
        return None
    hops = [_steps_of(hop, steps) for hop in record.hops if hop.facts]
    reached = set().union(*hops)
    in_order, straight = _in_order(hops, len(steps)), all(hops)
    return {
        "exact": in_order and straight,
        "in_order": in_order,
        "any_order": len(reached) == len(steps),
        "subset": straight,
        "found": len(reached) / len(steps),
    }


def allowed(record: QuestionRecord) -> bool | None:
    """Whether the steps taken are exactly those of an allowed course; None where the question allows any.

    A step that repeats at once counts once: a hop with two needs lists documents twice.
    """
    if not record.courses:
        return None
    return _once(record.taken) in [_once(course) for course in record.courses]


def _once(steps: Sequence[str]) -> tuple[str, ...]:
    return tuple(step for step, _ in groupby(steps))


def _steps_of(hop: Hop, steps: Sequence[str]) -> frozenset[int]:
    return frozenset(at for at, step in enumerate(steps) if any(_is_step(fact, step) for fact in hop.facts))


def _is_step(fact: FoundFact, step: str) -> bool:
    if any(matches(text, step) for text in (fact.value, fact.title)):
        return True
    return not fact.value and stands_in(fact.statement, step)


def _in_order(hops: Sequence[frozenset[int]], count: int) -> bool:
    """Whether each step is found in the hop of the step before it, or in a later one."""
    position = 0
    for step in range(count):
        later = next((at for at in range(position, len(hops)) if step in hops[at]), None)
        if later is None:
            return False
        position = later
    return True
