"""Evaluates a plan against the facts so far: its values, or what must be looked up next."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.builtin.language.function_words import content, folded, names_in, word_set, words
from iterative_rag.builtin.language.lexicon import MEASURES, AnswerKind, alike
from iterative_rag.builtin.language.value_agreement import agree, says_yes
from iterative_rag.builtin.question.need_query import read_query
from iterative_rag.builtin.question.plan import (
    Computed,
    Fallback,
    Literal,
    Lookup,
    NamePart,
    Node,
    Operation,
    Part,
    slots_of,
)
from iterative_rag.builtin.reading.answer_form import fits, is_other_bearer
from iterative_rag.builtin.reading.findings import NEAR_BEST, NOTHING, probability, trust
from iterative_rag.builtin.reasoning import computed_values, name_parts
from iterative_rag.builtin.reasoning.answer_trust import CAREFUL, Answering, AnswerTrust, Thresholds, weakest_step
from iterative_rag.builtin.reasoning.node_result import (
    CANDIDATES,
    RIVAL,
    NodeResult,
    NodeValue,
    add_short_names,
    combinations,
    is_rival,
    unique,
)
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Computation, Fact, Inquiry, Need

# Share of the remaining doubt that another quote with the same value takes away, by its probability of being right; the
# least trust in such a quote; characters of what counts as a part of a value: "5" is none of "5 rooms". Set on 127
# plain questions over the pages of FRAMES.
SUPPORT, HEARD, SHORTEST = 0.6, 0.3, 3
# From which trust on a value of the article on a name of the question answers it, whatever its plan came to. Of 1,155
# questions of development three more were answered by it, two of them rightly.
SURE = 0.75
# Whether a yes, or a no, of one side decides, whatever the others are.
_DECISIVE = {Operation.CHOICE: True, Operation.BOTH: False}


@dataclass(slots=True)
class Evaluation:
    """Evaluates the nodes of a plan for one state of an inquiry, with facts trusted at least as `caution` requires.
    `trust` tells how likely an answer is right."""

    inquiry: Inquiry
    caution: Thresholds = CAREFUL
    trust: AnswerTrust = weakest_step
    _facts: dict[str, list[tuple[int, Fact]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for index, fact in enumerate(self.inquiry.facts):
            self._facts.setdefault(fact.need.key, []).append((index, fact))

    def of(self, node: Node) -> NodeResult:
        match node:
            case Literal():
                return NodeResult((NodeValue(node.source),))
            case Lookup():
                return self._lookup(node)
            case NamePart():
                return self._name_part(node)
            case Computed():
                return self._computed(node)
            case Fallback():
                return self._fallback(node)

    def _lookup(self, node: Lookup) -> NodeResult:
        slots = [self.of(slot) for slot in node.slots]
        if needs := unique(need for slot in slots for need in slot.needs):
            return NodeResult(needs=needs)
        missing = unique(text for slot in slots for text in slot.missing)
        if any(slot.denied for slot in slots):
            return NodeResult(missing=missing, denied=True)
        # A description that was not found is kept as it is: the search may still understand it.
        choices = [
            add_short_names(slot.values[:CANDIDATES])
            or ((NodeValue(child.source, score=0.5, chain=0.5, guessed=True),) if content(child.source) else ())
            for slot, child in zip(slots, node.slots, strict=True)
        ]
        if not all(choices):
            return NodeResult(missing=missing)
        values: list[NodeValue] = []
        followed: list[tuple[NodeValue, ...]] = []
        for combination in combinations(choices):
            if values and not is_rival(combination, followed):
                continue
            question = render(node.template, [value.text for value in combination])
            if hits := self._found(question, combination):
                if hits[0].text == NOTHING:
                    return NodeResult(missing=(f"{question} (the corpus says: none)",), denied=True)
                values += hits
                followed.append(combination)
                continue
            if not self.inquiry.looks(Need(question)):
                return NodeResult(needs=(question,))
        if values:
            return NodeResult(tuple(sorted(values, key=lambda value: (self._repeats(value.text), -value.chain))))
        first = render(node.template, [choice[0].text for choice in choices])
        return NodeResult(missing=missing or (first,))

    def _fallback(self, node: Fallback) -> NodeResult:
        first = self.of(node.first)
        if first.needs or first.denied:
            return first
        trust = self.trusted(self.inquiry.original, first.values) if first.values else 0.0
        if trust >= CAREFUL.given:
            return first
        second = self.of(node.second)
        if isinstance(node.second, Lookup):
            kept = tuple(value for value in second.values if self._is_of_plan(value, node.first))
            second = replace(second, values=kept)
        if second.needs or (second.values and self.trusted(self.inquiry.original, second.values) >= trust):
            return second
        return first

    def _is_of_plan(self, value: NodeValue, plan: Node) -> bool:
        """Whether a value that was read of a whole question is about what the question describes, and not about a name
        in it: a quote tells of that ("Length: 516 m" in the article on a bridge is not of "the river under it"). The
        name of what is described answers only where a name or a person is asked for. A sure value from the article on a
        name of the question is about that: the plan may have been read wrongly."""
        facts = [self.inquiry.facts[index] for index in value.facts]
        if any(fact.value and is_row(fact.quote) and _is_on_subject(fact) for fact in facts):
            return False
        named = read_query(self.inquiry.original).kind in {AnswerKind.NAME, AnswerKind.PERSON}
        described: list[list[str]] = []
        for slot in slots_of(plan):
            sure = [known.text for known in self.of(slot).values[:CANDIDATES] if known.score >= CAREFUL.given]
            if not named and any(_ends_name(value.text, text) for text in sure):
                return False
            described.append(sure or [slot.source])
        if any(fact.score >= SURE and _is_on_subject(fact) for fact in facts):
            return True
        return all(any(_tells_of(text, fact) for text in texts for fact in facts) for texts in described)

    def _found(self, question: str, combination: tuple[NodeValue, ...]) -> list[NodeValue]:
        """The values of a need's facts, best first; quotes that agree raise the trust in each other's value."""
        below = unique(index for value in combination for index in value.facts)
        weakest = min((value.score for value in combination), default=1.0)
        chain = math.prod(value.chain for value in combination)
        computed = unique(step for value in combination for step in value.computations)
        every = self._facts.get(Need(question).key, [])
        heard = [
            (index, fact)
            for index, fact in sorted(every, key=lambda item: -item[1].score)
            if fact.value
            and fact.score >= min(HEARD, self.caution.built_on)
            and self._usable(question, combination, fact)
        ]
        by_value: dict[str, list[tuple[int, Fact]]] = {}
        for index, fact in heard:
            by_value.setdefault(folded(fact.value), []).append((index, fact))
        ranked: list[tuple[float, NodeValue]] = []
        for group in by_value.values():
            best = group[0][1]
            # Rows of a table that one value rests on share its score; all of them are cited.
            rows = [at for at, fact in group if (fact.document_id, fact.score) == (best.document_id, best.score)]
            said = _agreed(best, [fact for at, fact in heard if at not in rows])
            if said < self.caution.built_on:
                continue
            others = [item for item in group if item[1].document_id != best.document_id]
            # One other article that says the same nearly as surely is cited besides the best.
            sure = [at for at, fact in others[:1] if fact.score >= NEAR_BEST * best.score]
            led = [at for at, fact in every if not fact.value and fact.score == best.score]  # see `joint_reading`
            facts = unique((*below, *rows, *sure, *led))
            ranked.append((said, NodeValue(best.value, facts, min(said, weakest), chain * said, computations=computed)))
        return [value for _, value in sorted(ranked, key=lambda item: -item[0])]

    def _usable(self, question: str, combination: tuple[NodeValue, ...], fact: Fact) -> bool:
        """Whether a fact's value has the asked kind and is not a name of the question or of what it asks about."""
        query = read_query(question)
        if not fits(query, fact.value):
            return False
        # A quote that gives the measure of one side alone is no difference.
        if _DIFFERENCE.match(question) and _DIFFERENT.isdisjoint(words(fact.quote)):
            return False
        if not all(_tells_of(value.text, fact) for value in combination if value.guessed):
            return False
        if query.kind not in {AnswerKind.PERSON, AnswerKind.PLACE} and not _ANOTHER.search(self.inquiry.original):
            return True
        known = {folded(value.text) for value in combination}
        if folded(fact.value) in known:
            return False
        return is_other_bearer(question, fact.value) or not self._is_in_question(frozenset(content(fact.value)))

    def _repeats(self, text: str) -> bool:
        """Whether a value only repeats words of the question, which seldom asks for them unless it offers a choice."""
        said = set(words(text))
        return bool(said) and " or " not in self.inquiry.original and said <= set(words(self.inquiry.original))

    def _is_in_question(self, said: frozenset[str]) -> bool:
        return any(said == name or (len(said) > 1 and said < name) for name in self._question_names())

    def _question_names(self) -> frozenset[frozenset[str]]:
        """The names in the question, which cannot be its answer; empty where it names what may be: in a choice, and
        in "Is Tellby the capital of Orm?"."""
        query = read_query(self.inquiry.original)
        if query.kind is AnswerKind.YES_NO or " or " in self.inquiry.original:
            return frozenset()
        return frozenset(frozenset(name) for name in query.names)

    def _name_part(self, node: NamePart) -> NodeResult:
        outcome = self.of(node.person)
        values = []
        for value in outcome.values:
            facts = [self.inquiry.facts[index] for index in value.facts]
            context = " ".join(fact.quote for fact in facts if folded(fact.value) == folded(value.text))
            part = name_parts.part_of(value.text, node.part, married=self._married_surname(node), context=context)
            if part:
                values.append(replace(value, text=part, guessed=False))
        return NodeResult(tuple(values), outcome.needs, outcome.missing)

    def _married_surname(self, node: NamePart) -> str:
        """The surname of the child whose mother's maiden name is asked for: hers by marriage, not by birth."""
        person = node.person
        if node.part is not Part.MAIDEN or not isinstance(person, Lookup) or not person.slots:
            return ""
        child = self.of(person.slots[0])
        return name_parts.surname(child.values[0].text) if child.values else ""

    def _computed(self, node: Computed) -> NodeResult:
        operands = [self.of(operand) for operand in node.operands]
        labels = [self.of(label) for label in node.labels]
        if needs := unique(need for part in (*operands, *labels) for need in part.needs):
            return NodeResult(needs=needs)
        missing = unique(text for part in operands for text in part.missing)
        unknown = {at for at, part in enumerate(operands) if not part.values}
        known = [part.values for part in operands if part.values]
        if unknown and not any(says_yes(values[0].text) is _DECISIVE.get(node.operation) for values in known):
            return NodeResult(missing=missing)
        chosen = [self._of_subject(values) for values in known]
        label_texts = [
            label.values[0].text if label.values else child.source
            for at, (label, child) in enumerate(zip(labels, node.labels, strict=True))
            if at not in unknown
        ]
        trusts = [value.score for value in chosen]
        worked = computed_values.compute(
            node.operation, [value.text for value in chosen], label_texts, node.unit, trusts
        )
        if worked is None:
            return NodeResult(missing=(f"values that can be compared for: {node.source}",))
        facts = unique(index for value in chosen for index in value.facts)
        steps = unique(step for value in chosen for step in value.computations)
        if worked.expression:
            proving = unique(index for value in chosen for index in self._facts_stating(value))
            steps = (*steps, Computation(worked.expression, worked.result, proving))
        score = min(value.score for value in chosen)
        return NodeResult((NodeValue(worked.text, facts, score, computations=steps),))

    def _of_subject(self, values: Sequence[NodeValue]) -> NodeValue:
        """The best value, or one nearly as sure from the article on what was asked about: others, which mention it or
        are on its namesakes, often state the same of something else."""
        near = (value for value in values if value.score >= RIVAL * values[0].score)
        facts = self.inquiry.facts
        own = (value for value in near if any(_is_on_subject(facts[at]) for at in self._facts_stating(value)))
        return next(own, values[0])

    def trusted(self, asked: str, values: Sequence[NodeValue]) -> float:
        """The trust in the first of the values as the answer to a question."""
        return self.trust(Answering(asked, self.inquiry, values))

    def _facts_stating(self, value: NodeValue) -> tuple[int, ...]:
        """The facts of a value that state it; all of its facts if it was computed."""
        holding = (index for index in value.facts if folded(self.inquiry.facts[index].value) == folded(value.text))
        return tuple(holding) or value.facts


_DIFFERENCE = lazy_pattern(
    r"(?:by )?how (?:many|much)\b.* than\b|how many years (?:.* )?(?:between|after|before|separate)\b"
    r"|by how (?:many|much)\b|what is the difference\b",
    re.IGNORECASE,
)
_ANOTHER = lazy_pattern(r"\b(?:also|other|another|else)\b", re.IGNORECASE)
_DIFFERENT = {*MEASURES} | word_set("than more less fewer after before earlier later older fell rose grew lost gained")


def _tells_of(description: str, fact: Fact) -> bool:
    """Whether a fact has a word of what a description says, or the name that it consists of."""
    said, told = content(description), set(content(f"{fact.title} {fact.statement} {fact.quote}"))
    plain = [word for word in said if word not in names_in(description)]
    return not said or any(not alike(word).isdisjoint(told) for word in plain or said)


def _ends_name(value: str, name: str) -> bool:
    """Whether a value is a name or the surname in it: "Lee" of "Ann Lee"."""
    said = content(value)
    return bool(said) and content(name.split(", ")[0])[-len(said) :] == said


def _is_on_subject(fact: Fact) -> bool:
    """Whether a fact is from the article on a name of its need."""
    title = frozenset(content(fact.title.split(" (")[0]))
    return any(title == frozenset(name) for name in read_query(fact.need.question).names)


def _agreed(best: Fact, others: Sequence[Fact]) -> float:
    """The trust in a value, raised by other quotes that have it, too."""
    doubt = 1.0 - probability(best.score)
    for fact in others:
        part = agree(fact.value, best.value) and min(len(fact.value), len(best.value)) >= SHORTEST
        if part or folded(fact.value) == folded(best.value):
            doubt *= 1.0 - SUPPORT * probability(fact.score)
    return trust(1.0 - doubt)


def render(template: str, values: list[str]) -> str:
    text = template
    for index, value in enumerate(values):
        text = text.replace(f"{{{index}}}", value)
    return text
