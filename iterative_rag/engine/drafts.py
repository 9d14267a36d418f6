"""A draft after its check, an abstention in place of one, and calls that an answer can do without."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import TypeVar

from iterative_rag.errors import IterativeRAGError, LLMError
from iterative_rag.types import DegradedStep, Draft, Reflection, Step

T = TypeVar("T")
# A call that failed in all its attempts is made once more.
CALLS = 2
# The highest confidence of an answer that was refused as long as more could be looked up.
LAST_CONFIDENCE = 0.45


@dataclass(frozen=True, slots=True)
class Drafted:
    """A draft after reflection. `search`: another search might help, for `gap` if that is not empty.

    `reflection` is None where the strategy does not reflect, but for a text, whose sentences are always checked.
    `ended_by` is the limit or fault that a text breaks off at.
    """

    draft: Draft
    reflection: Reflection | None = None
    search: bool = False
    gap: str = ""
    ended_by: IterativeRAGError | None = None


def as_last_attempt(draft: Draft) -> Draft:
    """Marked as what the facts make likely, and trusted no more than that."""
    return replace(draft, last_attempt=True, confidence=min(draft.confidence, LAST_CONFIDENCE))


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


def optional(hop: int, role: str, call: Callable[[], T]) -> Generator[Step, None, T | None]:
    """What `call` returns; None, and a DegradedStep, where it failed in CALLS calls: the run goes on without it.

    Raises CapReached, and an LLMError that any other call would raise as well (no server, no such model).
    """
    for n in range(1, CALLS + 1):
        try:
            return call()
        except LLMError as error:
            if error.fatal:
                raise
            if n == CALLS:
                yield DegradedStep(hop, role, type(error).__name__, str(error))
    return None
