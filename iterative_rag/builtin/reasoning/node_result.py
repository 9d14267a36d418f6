"""The result of evaluating a node of a plan: values with their facts, open questions, or what is missing."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from iterative_rag.types import Computation

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A possible value of a node, with the indexes of the facts that support it.

    `score` is the trust in its weakest step (0 to 1); `chain` is the product over all steps, which ranks the values of
    one node. `guessed` marks a description that was not found and stands for itself. `computations` are those from
    which the value was derived. `parts` are the questions with their values where several were asked at once.
    """

    text: str
    facts: tuple[int, ...] = ()
    score: float = 1.0
    chain: float = 1.0
    guessed: bool = False
    computations: tuple[Computation, ...] = ()
    parts: tuple[tuple[str, NodeValue], ...] = ()


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Either `values`, best first, or the questions to ask first (`needs`), or what was not found (`missing`); both
    values and what is missing where one of several questions has no answer.

    `again` holds questions that found nothing once and may be asked again with a wider search. `denied` means that the
    corpus states that there is no such thing.
    """

    values: tuple[NodeValue, ...] = ()
    needs: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    denied: bool = False


def unique(items: Iterable[T]) -> tuple[T, ...]:
    """The items without duplicates, in the order of their first occurrence."""
    return tuple(dict.fromkeys(items))
