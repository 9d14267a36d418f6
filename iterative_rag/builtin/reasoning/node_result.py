"""The result of evaluating a node of a plan: values with their facts, open questions, or what is missing; and which of
the values of several descriptions are followed, in which combinations; and what two sides come to together."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Computation

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True)
class NodeValue:
    """A possible value of a node, with the indexes of the facts that support it.

    `score` is the trust in its weakest step (0 to 1); `chain` is the product over all steps, which ranks the values of
    one node. `guessed` marks a description that was not found and stands for itself. `computations` are those from
    which the value was derived.
    """

    text: str
    facts: tuple[int, ...] = ()
    score: float = 1.0
    chain: float = 1.0
    guessed: bool = False
    computations: tuple[Computation, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeResult:
    """Either `values`, best first, or the questions to ask first (`needs`), or what was not found (`missing`).

    `denied` means that the corpus states that there is no such thing, `unnamed` that the question names nothing.
    """

    values: tuple[NodeValue, ...] = ()
    needs: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    denied: bool = False
    unnamed: bool = False


def unique(items: Iterable[T]) -> tuple[T, ...]:
    """The items without duplicates, in the order of their first occurrence."""
    return tuple(dict.fromkeys(items))


# Most values of one description that are followed, and most combinations of values of all.
CANDIDATES, COMBINATIONS = 2, 5
# Least share of the best trust at which another combination is followed as well.
RIVAL = 0.7
_TWO_NAMES = lazy_pattern(r"^([A-ZÀ-Þ][^,&\d]{2,60}?)(?:, | and | & )([A-ZÀ-Þ][^,&\d]* .{2,60})$")


def combinations(choices: list[tuple[NodeValue, ...]]) -> Iterator[tuple[NodeValue, ...]]:
    """The likeliest combinations of a value for each description, best first."""
    combined = list(itertools.islice(itertools.product(*choices), 64))
    ranked = sorted(combined, key=lambda values: -min((value.score for value in values), default=1.0))
    yield from ranked[:COMBINATIONS]


def is_rival(combination: tuple[NodeValue, ...], followed: Sequence[tuple[NodeValue, ...]]) -> bool:
    """Whether a combination is worth a look-up although another has values: nearly as likely, and from other facts."""
    if any(value.guessed for value in combination):
        return False
    near = all(mine.score >= RIVAL * best.score for mine, best in zip(combination, followed[0], strict=True))
    return near and all(
        any(mine.facts != theirs.facts for mine, theirs in zip(combination, other, strict=True)) for other in followed
    )


def add_short_names(values: tuple[NodeValue, ...]) -> tuple[NodeValue, ...]:
    """Append shorter names: "Lornfield" for "Lornfield, Westmark", each of the two for "Ann Lee and Bo Orm"."""
    short = []
    for value in values:
        if ", " in value.text:
            short.append(
                replace(value, text=value.text.split(", ")[0], score=value.score * 0.95, chain=value.chain * 0.95)
            )
        elif pair := _TWO_NAMES.match(value.text):
            short += [
                replace(value, text=name, score=value.score * 0.95, chain=value.chain * 0.95)
                for name in pair.groups()
                if " " in name
            ]
    return (*values, *short)
