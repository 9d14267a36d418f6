"""From a question to its plan: the grammar where it understands the form, the trained splitter where it sees more.

The splitter finds more often than the rules what must be found first; what is compared, counted or computed only the
rules can say, and where they take a question further apart, they are right more often (MODEL_CARD.md has figures).
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import Computed, Fallback, Lookup, NamePart, Node, slots_of
from iterative_rag.builtin.question.plan_checks import flaws, sound
from iterative_rag.builtin.question.simplification import ordered
from iterative_rag.builtin.question.span_decoding import QuestionKind, Split
from iterative_rag.builtin.question.split_repair import mended
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.substitution import plain, planned
from iterative_rag.text.patterns import lazy_pattern

# The confidence at which a split is followed though the rules take the question apart just as far.
SURE = 0.8
# How often a question that came out of a split is split in its turn.
DEEPEST = 2

# A question that holds a description within its own: "Who is X's son that ...?", not "X has met which man?".
_HOLDS = lazy_pattern(
    r"^(?:(?:in|at|on|from|to|for) )?(?:who|what|which|where|when|how)\b.*"
    r"(?<!one of )\b(?:[\w-]+['’]s? [a-z]+\b|the [a-z]+ (?:where|that|who|which|whose)\b)",
    re.IGNORECASE,
)


class QuestionPlanner:
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
        whole = " ".join(question.split())
        node = _without_echo(self._deeper(self._chosen(rules, self._split(whole)), 1))
        if not isinstance(node, Lookup) or not node.slots:
            return node
        if not sound(node):
            return as_it_stands(whole)
        return Fallback(whole, replace(node, source=""), as_it_stands(whole))

    def _split(self, question: str) -> Split:
        assert self._splitter is not None
        return mended(self._splitter.split(ordered(question)))

    def _deeper(self, node: Node, depth: int) -> Node:
        """The plan with those of its questions taken apart that a look at the whole left whole."""
        if not isinstance(node, Lookup):
            return node
        if node.slots:
            return Lookup(node.source, node.template, tuple(self._leaf(slot, depth) for slot in node.slots))
        return node

    def _leaf(self, node: Node, depth: int) -> Node:
        if not isinstance(node, Lookup) or node.slots or depth > DEEPEST:
            return self._deeper(node, depth)
        if not _HOLDS.search(node.template):
            return node
        found = self._chosen(parse(node.template), self._split(node.template))
        if not isinstance(found, Lookup) or not found.slots or _ECHO.match(found.template) or flaws(found):
            return node
        return self._deeper(Lookup(node.source, found.template, found.slots), depth + 1)

    def _chosen(self, rules: Node, split: Split) -> Node:
        """The plan of the rules or of the split: the one that can be asked, else the surer one."""
        pointed = planned(split)
        if pointed is None or split.kind is not QuestionKind.NESTED:
            return rules
        if flaws(pointed) != flaws(rules):
            return min(pointed, rules, key=flaws)
        return pointed if split.confidence >= SURE or _lookups(pointed) > _lookups(rules) else rules


def as_it_stands(question: str) -> Lookup:
    """The plan that looks a question up whole."""
    return Lookup(question, plain(question))


_ECHO = lazy_pattern(r"^(?:what|who|which) (?:is|was|are|were) \{0\}\W*$", re.IGNORECASE)


def _without_echo(node: Node) -> Node:
    """Without questions that only ask once more for what was found: "What is {0}?"."""
    if not isinstance(node, Lookup):
        return node
    slots = tuple(_without_echo(slot) for slot in node.slots)
    if len(slots) == 1 and isinstance(slots[0], Lookup) and _ECHO.match(node.template):
        return replace(slots[0], source=node.source)
    return replace(node, slots=slots)


def _computes(node: Node) -> bool:
    return isinstance(node, Computed | NamePart) or any(_computes(slot) for slot in slots_of(node))


def _lookups(node: Node) -> int:
    return isinstance(node, Lookup) + sum(_lookups(slot) for slot in slots_of(node))
