"""Evaluates a plan against the facts so far: what its value is, or what must be looked up next."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from iterative_rag.builtin.language.lexicon import Kind
from iterative_rag.builtin.language.quantities import dates, numbers
from iterative_rag.builtin.language.words import content
from iterative_rag.builtin.question.plan import Computed, Either, Literal, Lookup, NamePart, Node, Operation, Part
from iterative_rag.builtin.question.query import Query, read_query
from iterative_rag.builtin.reading.picking import NOTHING
from iterative_rag.builtin.reasoning import computing, names
from iterative_rag.types import Fact, Inquiry

# Facts below this trust are not built upon.
TRUSTED, TRUSTED_GUESS, TRUSTED_NUMBER = 0.25, 0.3, 0.45
# What another document with the same value adds when values are ranked.
SUPPORT = 0.03
# Candidates of one look-up that are followed, and combinations of candidates of all slots.
CANDIDATES, COMBINATIONS = 2, 5
# What is left of the trust where one of two conditions was not found.
HALF_MET = 0.75
# How near to the best a second value must come to be taken for what two share.
ALSO = 0.5
# How near to the best a second reading of a slot must come for it to be followed, too.
RIVAL = 0.7
# Looks at one need: the second is the engine's wider one.
LOOKS = 2


@dataclass(frozen=True, slots=True)
class Value:
    """A possible value of a node, the positions of the facts that it rests on, and the trust in it.

    `chain` is the product of the trust in every step, by which values of the same node are ranked. `guessed` marks a
    description that was not found and stands for itself.
    """

    text: str
    facts: tuple[int, ...] = ()
    score: float = 1.0
    chain: float = 1.0
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """Values, best first; or the questions that must be asked first; or neither, and what was not found.

    `denied` says that the corpus holds that there is no such thing.
    `again` are questions that brought nothing once and may be looked for once more, wider.
    """

    values: tuple[Value, ...] = ()
    needs: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    denied: bool = False


@dataclass(slots=True)
class Evaluation:
    """One look at an inquiry. `retry` says whether a need that brought nothing may be asked once more."""

    inquiry: Inquiry
    _facts: dict[str, list[tuple[int, Fact]]] = field(default_factory=dict)
    _tried: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, fact in enumerate(self.inquiry.facts):
            self._facts.setdefault(key(fact.need.question), []).append((place, fact))
        for need in self.inquiry.tried:
            self._tried[key(need.question)] = self._tried.get(key(need.question), 0) + 1

    def of(self, node: Node) -> Outcome:
        match node:
            case Literal():
                return Outcome((Value(node.source),))
            case Lookup():
                return self._lookup(node)
            case NamePart():
                return self._name_part(node)
            case Computed():
                return self._computed(node)
            case Either():
                return self._either(node)

    def _lookup(self, node: Lookup) -> Outcome:
        slots = [self.of(slot) for slot in node.slots]
        if needs := _unique(need for slot in slots for need in slot.needs):
            return Outcome(needs=needs)
        missing = _unique(text for slot in slots for text in slot.missing)
        if any(slot.denied for slot in slots):
            return Outcome(missing=missing, denied=True)
        again = [need for slot in slots for need in slot.again]
        # A description that was not found may still be understood where it stands.
        choices = [
            _with_short(slot.values[:CANDIDATES])
            or ((Value(child.source, score=0.5, chain=0.5, guessed=True),) if child.source else ())
            for slot, child in zip(slots, node.slots, strict=True)
        ]
        if not all(choices):
            return Outcome(again=tuple(again[:2]), missing=missing)
        values: list[Value] = []
        followed: list[tuple[Value, ...]] = []
        for combination in itertools.islice(_by_score(choices), COMBINATIONS):
            if values and not _is_rival(combination, followed):
                continue
            question = render(node.template, [value.text for value in combination])
            guessed = any(value.guessed for value in combination)
            if found := self._found(question, combination, least=_least(question) if guessed else TRUSTED):
                if found[0].text == NOTHING:
                    return Outcome(missing=(f"{question} (the corpus says: none)",), denied=True)
                values += found
                followed.append(combination)
                continue
            looks = self._tried.get(key(question), 0)
            if looks == 0:
                return Outcome(needs=(question,), again=tuple(again))
            if looks < LOOKS:
                again.append(question)
        if values:
            return Outcome(tuple(sorted(values, key=lambda value: -value.chain)))
        first = render(node.template, [choice[0].text for choice in choices])
        return Outcome(again=tuple(again[:2]), missing=missing or (first,))

    def _either(self, node: Either) -> Outcome:
        first = self.of(node.first)
        if first.values or first.needs or first.denied:
            return first
        # The whole question is asked before what the plan did not find is looked for wider.
        second = self.of(node.second)
        if second.values or second.needs:
            return second
        return replace(first, again=_unique((*first.again, *second.again)))

    def _found(self, question: str, combination: tuple[Value, ...], *, least: float) -> list[Value]:
        """The values of a need's facts, best first; documents that agree support one another."""
        below = _unique_places(place for value in combination for place in value.facts)
        trust = min((value.score for value in combination), default=1.0)
        chain = math.prod(value.chain for value in combination)
        found: dict[str, list[tuple[int, Fact]]] = {}
        for place, fact in self._facts.get(key(question), []):
            if fact.value and fact.score >= least and self._usable(question, combination, fact):
                found.setdefault(computing.folded(fact.value), []).append((place, fact))
        ranked: list[tuple[float, Value]] = []
        for group in found.values():
            group.sort(key=lambda item: -item[1].score)
            place, best = group[0]
            others = [item for item in group if item[1].document_id != best.document_id]
            # One other article that says the same is cited beside the best.
            facts = _unique_places((*below, place, *(item[0] for item in others[:1])))
            documents = {item[1].document_id for item in others}
            said = best.score + SUPPORT * len(documents)
            value = Value(best.value, facts, min(best.score, trust), chain * said)
            ranked.append((said, value))
        return [value for _, value in sorted(ranked, key=lambda item: -item[0])]

    def _usable(self, question: str, combination: tuple[Value, ...], fact: Fact) -> bool:
        """Whether a fact's value is of the kind that is asked for and can be about the one who is meant."""
        query = read_query(question)
        if not fits(query, fact.value):
            return False
        if query.kind in {Kind.PERSON, Kind.PLACE} and frozenset(content(fact.value)) in self._said():
            return False
        return not any(self._given_name(value) and self._stranger(value, fact) for value in combination)

    def _given_name(self, value: Value) -> bool:
        """Whether a value is a person known by one word: too little to be found by elsewhere."""
        if " " in value.text or not value.facts:
            return False
        need = self.inquiry.facts[value.facts[-1]].need.question
        return read_query(need).kind is Kind.PERSON

    def _stranger(self, value: Value, fact: Fact) -> bool:
        """Whether a fact may be about a namesake: its article neither told of the person nor is the person's own."""
        known = {self.inquiry.facts[place].document_id for place in value.facts}
        title = computing.folded(fact.title.split(" (")[0])
        return fact.document_id not in known and title != computing.folded(value.text)

    def _said(self) -> frozenset[frozenset[str]]:
        """The names of the question, none of which is its answer; a choice names its answers."""
        if " or " in self.inquiry.original:
            return frozenset()
        return frozenset(frozenset(name) for name in read_query(self.inquiry.original).names)

    def _name_part(self, node: NamePart) -> Outcome:
        outcome = self.of(node.person)
        values = []
        for value in outcome.values:
            facts = [self.inquiry.facts[place] for place in value.facts]
            context = " ".join(
                fact.quote for fact in facts if computing.folded(fact.value) == computing.folded(value.text)
            )
            part = names.part_of(value.text, node.part, married=self._married(node), context=context)
            if part:
                values.append(Value(part, value.facts, value.score, value.chain))
        return Outcome(tuple(values), outcome.needs, outcome.again, outcome.missing)

    def _married(self, node: NamePart) -> str:
        """The surname of the child whose mother is meant: hers by marriage, not by birth."""
        person = node.person
        if node.part is not Part.MAIDEN or not isinstance(person, Lookup) or not person.slots:
            return ""
        child = self.of(person.slots[0])
        return names.surname(child.values[0].text) if child.values else ""

    def _computed(self, node: Computed) -> Outcome:
        operands = [self.of(operand) for operand in node.operands]
        labels = [self.of(label) for label in node.labels]
        if needs := _unique(need for part in (*operands, *labels) for need in part.needs):
            return Outcome(needs=needs)
        missing = _unique(text for part in operands for text in part.missing)
        if node.operation is Operation.COMMON:
            return _common(operands)
        if any(not operand.values for operand in operands):
            again = _unique(need for part in operands for need in part.again)
            found = None if again else _decisive(node, operands)
            return Outcome((found,), missing=missing) if found else Outcome(again=again, missing=missing)
        chosen = _same_values(operands) if node.operation is Operation.SAME else [part.values[0] for part in operands]
        label_texts = [
            label.values[0].text if label.values else child.source
            for label, child in zip(labels, node.labels, strict=True)
        ]
        trusts = [value.score for value in chosen]
        text = computing.compute(node.operation, [value.text for value in chosen], label_texts, node.unit, trusts)
        if text is None:
            return Outcome(missing=(f"values that can be compared for: {node.source}",))
        facts = tuple(dict.fromkeys(place for value in chosen for place in value.facts))
        return Outcome((Value(text, facts, min(value.score for value in chosen)),))


def _decisive(node: Computed, operands: list[Outcome]) -> Value | None:
    """What one side settles though nothing was found of the other: a no to "both", a yes to "either" and "which"."""
    deciding = {Operation.BOTH: "no", Operation.EITHER: "yes", Operation.CHOICE: node.unit or "yes"}
    for place, operand in enumerate(operands):
        value = operand.values[0] if operand.values else None
        if value and value.text == deciding.get(node.operation):
            text = node.labels[place].source if node.operation is Operation.CHOICE else value.text.capitalize()
            return replace(value, text=text, score=value.score * HALF_MET, chain=value.chain * HALF_MET)
    return None


def _common(operands: list[Outcome]) -> Outcome:
    """The best value that all operands hold."""
    if any(not operand.values for operand in operands):
        again = _unique(need for part in operands for need in part.again)
        missing = _unique(text for part in operands for text in part.missing)
        found = [operand for operand in operands if operand.values]
        if again or not found or any(operand.denied for operand in operands):
            return Outcome(again=again, missing=missing)
        # One condition is not stated in so many words: what meets the other is trusted less.
        return Outcome(tuple(Value(v.text, v.facts, v.score * HALF_MET) for v in found[0].values), missing=missing)
    for values in sorted(
        itertools.product(*(operand.values for operand in operands)), key=lambda some: -min(v.score for v in some)
    ):
        if computing.compute(Operation.COMMON, [value.text for value in values], [], "") is not None:
            facts = _unique_places(place for value in values for place in value.facts)
            longest = max(values, key=lambda value: len(value.text))
            return Outcome((Value(longest.text, facts, min(value.score for value in values)),))
    return Outcome(missing=("one thing of which both is said",))


def _same_values(operands: list[Outcome]) -> list[Value]:
    """The two best values; two that agree where each is nearly as good as the best."""
    first, second = operands
    for one, other in itertools.product(first.values, second.values):
        near = one.score >= ALSO * first.values[0].score and other.score >= ALSO * second.values[0].score
        if near and computing.agree(one.text, other.text):
            return [one, other]
    return [first.values[0], second.values[0]]


def _least(question: str) -> float:
    """What an answer to a half-understood question must come to: a number or a date is found too easily."""
    counted = read_query(question).kind in {Kind.NUMBER, Kind.YEAR, Kind.DATE}
    return TRUSTED_NUMBER if counted else TRUSTED_GUESS


def key(question: str) -> str:
    return " ".join(question.casefold().split()).rstrip(" ?.")


def render(template: str, values: list[str]) -> str:
    text = template
    for place, value in enumerate(values):
        text = text.replace(f"{{{place}}}", value)
    return text


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


_TWO_NAMES = re.compile(r"^([A-ZÀ-Þ][^,&\d]{2,60}?)(?:, | and | & )([A-ZÀ-Þ][^,&\d]* .{2,60})$")


def _is_rival(combination: tuple[Value, ...], followed: Sequence[tuple[Value, ...]]) -> bool:
    """Whether another combination is worth asking though one has brought values: it is nearly as likely, and not the
    same finding in other words."""
    if any(value.guessed for value in combination):
        return False
    near = all(mine.score >= RIVAL * best.score for mine, best in zip(combination, followed[0], strict=True))
    return near and all(
        any(mine.facts != theirs.facts for mine, theirs in zip(combination, other, strict=True)) for other in followed
    )


def _with_short(values: tuple[Value, ...]) -> tuple[Value, ...]:
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


def fits(query: Query, value: str) -> bool:
    """Whether a value can be the answer by its form: of the kind that is asked for, and no echo of the question."""
    if value == NOTHING:
        return True
    if query.kind is Kind.YES_NO:
        return value.lower().startswith(("yes", "no"))
    if query.kind is Kind.NUMBER and not numbers(value):
        return False
    if query.kind in {Kind.YEAR, Kind.DATE} and not dates(value):
        return False
    if query.kind is Kind.PERSON and not any(character.isupper() for character in value):
        return False
    if query.kind in {Kind.PERSON, Kind.PLACE} and value.replace(",", "").replace(".", "").isdigit():
        return False
    if query.ordinals or query.superlative or query.kind not in {Kind.PERSON, Kind.PLACE, Kind.THING}:
        return True
    said = set(content(value))
    return not said or not any(said <= set(name) for name in query.names)


def _unique_places(places: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(places))


def _by_score(choices: list[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    combined = list(itertools.islice(itertools.product(*choices), 64))
    yield from sorted(combined, key=lambda values: -min((value.score for value in values), default=1.0))
