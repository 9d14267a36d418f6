"""Selects which values of the descriptions in a look-up are followed, in which combinations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iterative_rag.builtin.reasoning.node_result import NodeValue
from iterative_rag.text.patterns import lazy_pattern

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
