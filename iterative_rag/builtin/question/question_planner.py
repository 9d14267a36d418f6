"""Plans a question: as a plain fact if the trained splitter recognizes one, by the rules where it is computed, and
else by the splitter, which finds the descriptions that must be looked up first (see MODEL_CARD.md for figures)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache

from iterative_rag.builtin.question.antecedents import REFERENT, reference_in, with_antecedent
from iterative_rag.builtin.question.comparisons import sides_of
from iterative_rag.builtin.question.corpus_names import CorpusNames, QuestionNames
from iterative_rag.builtin.question.grammar import as_one, parse
from iterative_rag.builtin.question.plan import (
    Computed,
    Fallback,
    Lookup,
    NamePart,
    Node,
    Operation,
    escape_braces,
    is_understood,
    slots_of,
)
from iterative_rag.builtin.question.request_forms import first_question, restated
from iterative_rag.builtin.question.span_decoding import QuestionKind
from iterative_rag.builtin.question.splitter import Splitter
from iterative_rag.builtin.question.substitution import plan_split, reordered
from iterative_rag.builtin.question.wording import plan_of
from iterative_rag.text.other_names import spelled_out

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

    def is_described(self, question: str) -> bool:
        """Whether the splitter sees that a question describes whom or what it is about. Raises WeightsError."""
        kinds = {QuestionKind.NESTED, QuestionKind.INTERSECTION}
        return self._splitter is not None and self._splitter.split(question).kind in kinds

    def _read(self, question: str) -> QuestionNames:
        """The question as a plain question, with its names as the corpus writes them."""
        asked = spelled_out(question if "request_forms" in self._without else first_question(restated(question)))
        if asked != " ".join(question.split()) and not asked.endswith("?"):
            asked += "?"
        lower = not any(character.isupper() for character in question[1:])
        return self._names.read(asked, lower=lower) if self._names else QuestionNames(asked)

    def _plan(self, question: str) -> Node:
        """Plan a question. What nothing matches, and what is not understood in every part, becomes a single look-up.
        Raises WeightsError."""
        asked = self.read(question).question
        plan = self._plan_fact(asked)
        plan = plan if plan and is_understood(plan) else self._plan_one(asked)
        return plan if is_understood(plan) else as_it_stands(asked)

    def _plan_fact(self, question: str) -> Node | None:
        """Plan a question about plain facts that the network recognizes, in whatever words. Where the rules compare the
        same two names, they keep what is compared: "completed first", "older when she died"."""
        wording = self._splitter.split(question).wording if self._splitter and "wording" not in self._without else None
        if wording is None or wording.confidence < RECOGNIZED:
            return None
        plan = plan_of(wording, question)
        if isinstance(plan, Computed) and plan.labels and not wording.relation:
            sides = sides_of(question.rstrip(" ?")) if " or " in question else None
            if sides and _names(sides[1:]) != _names(wording.names):
                return None  # "the younger brother of Ann Lee, Bo or Ed"
            rules = self._plan_one(question)
            described = any(isinstance(side, Lookup) and side.slots for side in slots_of(rules))
            if _labels(rules) in (_names(wording.names), ["yes", "no"]) and not described:
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
        whole = f"{' '.join(question.split()).rstrip(' ?.!')}?"
        node = parse(question, self._expand, self._without) or self._expand(whole, whole, try_unsure=True)
        if not isinstance(node, Lookup) or not node.slots or any(map(_computes, node.slots)):
            return node
        return Fallback(whole, replace(node, source=""), as_it_stands(whole))

    def _expand(self, question: str, source: str, *, try_unsure: bool = False) -> Node:
        """A look-up whose descriptions, as the splitter finds them, are looked up first. `try_unsure`: also one of
        which it is not sure, for a question that is tried as it stands afterwards."""
        ordered = reordered(question)
        whole = as_one(ordered, source)
        split = self._splitter.split(ordered) if self._splitter else None
        pointed = plan_split(split) if split and (split.is_sure or try_unsure) else None
        return replace(pointed, source=source) if pointed and is_understood(pointed) else whole


def as_it_stands(question: str) -> Lookup:
    """The plan that looks the question up as a whole."""
    return Lookup(question, escape_braces(question))


def _labels(node: Node) -> list[str]:
    """What a plan compares by a measure or in time."""
    if not isinstance(node, Computed) or node.operation not in {Operation.LEAST, Operation.GREATEST}:
        return []
    return _names([label.source for label in node.labels])


def _names(texts: Iterable[str]) -> list[str]:
    return [text.lower().removeprefix("the ") for text in texts]


def _computes(node: Node) -> bool:
    return isinstance(node, Computed | NamePart) or any(_computes(slot) for slot in slots_of(node))
