"""The next needs of a chain that an analysis has foreseen: the values that were found are put into them, and no call of
a model has to do that."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from iterative_rag.retrieval.need_reading import is_value
from iterative_rag.retrieval.need_words import plain_words
from iterative_rag.text.languages import content_words
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.value_members import members
from iterative_rag.types import Inquiry, Need, Needs

# A longer value is a sentence, which no question can hold.
LONGEST_VALUE = 60
# A fact with this share of a need's words may answer it.
MOST_WORDS = 2 / 3

_PLACE = lazy_pattern(r"#(\d+)")


def foreseen(plan: Needs, inquiry: Inquiry) -> Needs | None:
    """The needs that follow those of a plan, and what follows them; None where there are none, where a need has no
    value, several, or one that is a list, or where a fact may already say what follows: then a model has to look."""
    values = {n: _value(need, inquiry) for n, need in enumerate(plan.needs, start=1)}
    if not plan.then or not all(values.values()):
        return None
    first = len(values) + 1
    ready = [n for n, need in enumerate(plan.then, start=first) if values.keys() >= _places(need)]
    numbers = [*ready, *(n for n in range(first, first + len(plan.then)) if n not in ready)]
    put_in = values | {old: f"#{new}" for new, old in enumerate(numbers, start=1)}
    needs = [_filled(plan.then[n - first], put_in) for n in numbers]
    if not ready or any(_is_told(need, plan.then[n - first], inquiry) for n, need in zip(ready, needs, strict=False)):
        return None
    return replace(plan, needs=tuple(needs[: len(ready)]), then=tuple(needs[len(ready) :]))


def is_foretold(plan: Needs, inquiry: Inquiry) -> bool:
    """Whether one need alone follows those of a plan, and a fact may already say what it asks."""
    if not plan.last or len(plan.then) != 1:
        return False
    (then,) = plan.then
    values = {n: value for n, need in enumerate(plan.needs, start=1) if (value := _value(need, inquiry))}
    return values.keys() >= _places(then) and _is_told(_filled(then, values), then, inquiry)


def _places(need: Need) -> set[int]:
    return {int(number) for number in _PLACE.findall(f"{need.question} {need.see}")}


def _filled(need: Need, values: Mapping[int, str]) -> Need:
    question, see = (_PLACE.sub(lambda at: values.get(int(at[1]), at[0]), text) for text in (need.question, need.see))
    return Need(question, see)


def _is_told(need: Need, template: Need, inquiry: Inquiry) -> bool:
    """Whether a fact, noted for something else, has most words of a need, most of those beside its values, and all that
    no look-up has asked for yet: who the captain was, a fact on the team does not tell."""
    beside = content_words(_PLACE.sub("", template.question))
    new = beside.difference(*(content_words(tried.question) for tried in inquiry.tried))
    told = [content_words(fact.statement) for fact in inquiry.facts]
    return any(
        new <= said
        and all(len(words & said) >= MOST_WORDS * len(words) for words in (content_words(need.question), beside))
        for said in told
    )


def _value(need: Need, inquiry: Inquiry) -> str:
    """The one value of a need: of those that say the same more or less fully the fullest; "" where there is none."""
    facts = (fact for fact in inquiry.facts if fact.need.key == need.key and is_value(fact) and not fact.is_doubtful)
    values = sorted({" ".join(fact.value.split()) for fact in facts}, key=len, reverse=True)
    if not values or len(values[0]) > LONGEST_VALUE or _is_list(values[0]):
        return ""
    words = set(plain_words(values[0]).split())
    return values[0] if all(words.issuperset(plain_words(value).split()) for value in values) else ""


def _is_list(value: str) -> bool:
    """Whether a value has several members; "Karsa, Velm" and "3 March, 1874" are one."""
    return value.count(",") > 1 or len(members(value.replace(",", " "))) > 1
