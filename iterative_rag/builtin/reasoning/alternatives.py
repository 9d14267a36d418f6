"""Which readings of the descriptions in a question are followed: combinations of the values found for each."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from iterative_rag.builtin.reasoning.node_result import NodeValue
from iterative_rag.text.patterns import lazy_pattern

# Candidates of one description that are followed, and combinations of candidates of all.
CANDIDATES, COMBINATIONS = 2, 5
# How near to the best a second reading must come for it to be followed, too.
RIVAL = 0.7
_TWO_NAMES = lazy_pattern(r"^([A-ZÀ-Þ][^,&\d]{2,60}?)(?:, | and | & )([A-ZÀ-Þ][^,&\d]* .{2,60})$")


def combinations(choices: list[tuple[NodeValue, ...]]) -> Iterator[tuple[NodeValue, ...]]:
    """The likeliest combinations of a value for each description, best first."""
    combined = list(itertools.islice(itertools.product(*choices), 64))
    ranked = sorted(combined, key=lambda values: -min((value.score for value in values), default=1.0))
    yield from ranked[:COMBINATIONS]


def is_rival(combination: tuple[NodeValue, ...], followed: Sequence[tuple[NodeValue, ...]]) -> bool:
    """Whether another combination is worth asking though one has brought values: it is nearly as likely, and not the
    same finding in other words."""
    if any(value.guessed for value in combination):
        return False
    near = all(mine.score >= RIVAL * best.score for mine, best in zip(combination, followed[0], strict=True))
    return near and all(
        any(mine.facts != theirs.facts for mine, theirs in zip(combination, other, strict=True)) for other in followed
    )


def with_short(values: tuple[NodeValue, ...]) -> tuple[NodeValue, ...]:
    """After each "Lornfield, Westmark" also plain "Lornfield", after "Ann Lee and Bo Orm" each of the two."""
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
