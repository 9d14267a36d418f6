"""Plans a question: as a plain fact if the trained splitter recognizes one, by the rules where they recognize its
form, by the splitter where it finds more.

The splitter finds nested descriptions more reliably than the rules. Comparisons, counts and computations are left to
the rules, which also win where they decompose a question further (see MODEL_CARD.md for figures).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from iterative_rag.builtin.question.antecedents import REFERENT, reference_in, with_antecedent
from iterative_rag.builtin.question.corpus_names import CorpusNames, QuestionNames
from iterative_rag.builtin.question.grammar import parse
from iterative_rag.builtin.question.plan import (
    Computed,
    Fallback,
    Literal,
    Lookup,
    NamePart,
    Node,
    Operation,
    count_flaws,
    escape_braces,
    is_well_formed,
    slots_of,
)
from iterative_rag.builtin.question.request_forms import restated
from iterative_rag.builtin.question.several_questions import FIRST_ANSWER, two_questions
from iterative_rag.builtin.question.span_decoding import QuestionKind, Split
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.substitution import plan_split
from iterative_rag.builtin.question.wording import Act, plan_of
from iterative_rag.text.other_names import spelled_out
from iterative_rag.text.patterns import lazy_pattern

# A split of this confidence is preferred even if the rules find as many look-ups.
SURE = 0.8
# From this confidence a question is planned as the plain fact that the network recognizes in it.
RECOGNIZED = 0.7


class QuestionPlanner:
    """Plans questions; thread-safe. Without a `splitter` it uses the rules alone; `without`: the rules that are left
    out, by their file or as `grammar.parse` names them, for measuring what each adds."""

    def __init__(
        self, splitter: Splitter | None, names: CorpusNames | None = None, *, without: Collection[str] = ()
    ) -> None:
        self._splitter, self._names, self._without = splitter, names, without
        # Every role asks for the plan of the same question at every hop.
        self.plan = lru_cache(maxsize=64)(self._plan)
        self.read = lru_cache(maxsize=64)(self._read)

    def knowing(self, names: CorpusNames) -> QuestionPlanner:
        """The same planner for questions about the corpus of these names."""
        return QuestionPlanner(
            self._splitter, None if "corpus_names" in self._without else names, without=self._without
        )

    def _read(self, question: str) -> QuestionNames:
        """The question as a plain question, with its names as the corpus writes them."""
        asked = spelled_out(question if "request_forms" in self._without else restated(question))
        if asked != " ".join(question.split()) and not asked.endswith("?"):
            asked += "?"
        lower = not any(character.isupper() for character in question[1:])
        return self._names.read(asked, lower=lower) if self._names else QuestionNames(asked)

    def _plan(self, question: str) -> Node:
        """Plan a question. Text that nothing matches becomes a single look-up. Raises WeightsError."""
        asked = self.read(question).question
        both = None if "several_questions" in self._without else two_questions(asked)
        if (known := self._plan_fact(asked, comparing=both is not None)) is not None:
            return known
        if both is None:
            return self._plan_one(asked)
        first = self._plan_one(f"{both.first}?")
        if FIRST_ANSWER in both.second:
            second: Node = Lookup(both.second, f"{both.second}?", (first,))
        else:
            second = self._plan_one(f"{both.second}?")
        questions = (Literal(f"{both.first}?"), Literal(f"{both.second}?"))
        return Computed(asked, Operation.SEVERAL, (first, second), labels=questions)

    def _plan_fact(self, question: str, *, comparing: bool) -> Node | None:
        """Plan a question about plain facts that the network recognizes, in whatever words; with `comparing` only one
        about two names. Where the rules compare the same two names, they keep the verb: "completed first"."""
        wording = self._splitter.split(question).wording if self._splitter and "wording" not in self._without else None
        if wording is None or wording.confidence < RECOGNIZED or (comparing and wording.act is Act.LOOKUP):
            return None
        plan = plan_of(wording, question)
        if isinstance(plan, Computed) and not wording.relation:
            rules = self._plan_one(question)
            if isinstance(rules, Computed) and rules.operation is plan.operation and _is_about(rules, wording.names):
                return rules
        return plan

    def _plan_one(self, question: str) -> Node:
        """Plan a text that asks one thing, perhaps after statements."""
        reference = None if "antecedents" in self._without else reference_in(question)
        if reference is None:
            return self._plan_sentence(question)
        if not reference.asked:
            return self._plan_sentence(f"{reference.question.replace(REFERENT, reference.antecedent)}?")
        plan = self._plan_one(reference.antecedent)
        meant = replace(plan.first if isinstance(plan, Fallback) else plan, source=reference.words)
        if reference.asks_only_what_is_meant:
            return meant
        asked = with_antecedent(self._plan_sentence(f"{reference.question}?"), reference, meant)
        if isinstance(asked, Fallback):
            return replace(asked, source=question)
        return Fallback(question, replace(asked, source=""), as_it_stands(question))

    def _plan_sentence(self, question: str) -> Node:
        rules = parse(question, self._without)
        if self._splitter is None or _computes(rules):
            return rules
        whole = " ".join(question.split())
        node = _without_echo(self._chosen(rules, self._splitter.split(question)))
        if not isinstance(node, Lookup) or not node.slots:
            return node
        if not is_well_formed(node):
            return as_it_stands(whole)
        return Fallback(whole, replace(node, source=""), as_it_stands(whole))

    def _chosen(self, rules: Node, split: Split) -> Node:
        """Choose between the plans of the rules and of the split: fewer malformed look-ups first, then confidence."""
        pointed = plan_split(split)
        if pointed is None or split.kind is not QuestionKind.NESTED:
            return rules
        if count_flaws(pointed) != count_flaws(rules):
            return min(pointed, rules, key=count_flaws)
        return pointed if split.confidence >= SURE or _lookups(pointed) > _lookups(rules) else rules


def as_it_stands(question: str) -> Lookup:
    """The plan that looks the question up as a whole."""
    return Lookup(question, escape_braces(question))


def _is_about(node: Computed, names: tuple[str, ...]) -> bool:
    """Whether the operands of a comparison are look-ups about these names."""
    asked = [operand.template for operand in node.operands if isinstance(operand, Lookup)]
    return len(asked) == len(names) and all(
        name.removeprefix("the ") in template for name, template in zip(names, asked, strict=True)
    )


_ECHO = lazy_pattern(r"^(?:what|who|which) (?:is|was|are|were) \{0\}\W*$", re.IGNORECASE)


def _without_echo(node: Node) -> Node:
    """Remove look-ups that only repeat the value below them: "What is {0}?"."""
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
