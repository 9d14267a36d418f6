"""What a node of a plan comes to: values that rest on facts, or questions to ask first, or what was not found."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from iterative_rag.types import Computation

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A possible value of a node, the positions of the facts that it rests on, and the trust in it.

    `chain` is the product of the trust in every step, by which values of the same node are ranked. `guessed` marks a
    description that was not found and stands for itself. `computations` are those that the value comes of.
    """

    text: str
    facts: tuple[int, ...] = ()
    score: float = 1.0
    chain: float = 1.0
    guessed: bool = False
    computations: tuple[Computation, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Values, best first; or the questions that must be asked first; or neither, and what was not found.

    `denied` says that the corpus holds that there is no such thing.
    `again` are questions that brought nothing once and may be looked for once more, wider.
    """

    values: tuple[NodeValue, ...] = ()
    needs: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    denied: bool = False


def unique(items: Iterable[T]) -> tuple[T, ...]:
    """The items, each where it came first."""
    return tuple(dict.fromkeys(items))
