"""From a question to its plan: the grammar where it understands the form, the trained splitter where it sees more.

The splitter finds more often than the rules what must be found first; what is compared, counted or computed only the
rules can say, and where they take a question further apart, they are right more often (MODEL_CARD.md has figures).
"""

from __future__ import annotations

from functools import lru_cache

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Lookup, NamePart, Node, slots_of
from iterative_rag.builtin.question.splicing import planned
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.stretches import QuestionKind

# The confidence at which a split is followed though the rules take the question apart just as far.
SURE = 0.8


class Planner:
    """Safe to use from several threads. Without a `splitter` everything is left to the rules."""

    def __init__(self, splitter: Splitter | None) -> None:
        self._splitter = splitter
        # Each role looks at the plan of the same question, hop after hop.
        self.plan = lru_cache(maxsize=64)(self._plan)

    def _plan(self, question: str) -> Node:
        """The plan of a question. Text that nothing fits is looked up as it stands. Raises WeightsError."""
        rules = parse(question)
        if self._splitter is None or _computes(rules):
            return rules
        split = self._splitter.split(" ".join(question.split()))
        pointed = planned(split) if split.kind is QuestionKind.NESTED else None
        if pointed is None:
            return rules
        return pointed if split.confidence >= SURE or _lookups(pointed) > _lookups(rules) else rules


def _computes(node: Node) -> bool:
    return isinstance(node, Computed | NamePart) or any(_computes(slot) for slot in slots_of(node))


def _lookups(node: Node) -> int:
    return isinstance(node, Lookup) + sum(_lookups(slot) for slot in slots_of(node))
