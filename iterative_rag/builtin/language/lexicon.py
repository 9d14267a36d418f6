"""How the words of a question appear in texts: synonyms of relations, hypernyms, kinds of answers, measures."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache

from iterative_rag.builtin.language.function_words import lines, listed, paired, stem
from iterative_rag.builtin.language.nouns import PLACES, names_person


class AnswerKind(StrEnum):
    """The expected type of an answer."""

    PERSON = "person"
    PLACE = "place"
    DATE = "date"
    YEAR = "year"
    NUMBER = "number"
    NAME = "name"
    THING = "thing"
    YES_NO = "yes/no"
    CHOICE = "choice"


_GROUPS: dict[str, frozenset[str]] = {}
for _line in lines("synonyms"):
    _words = _line.lstrip("=").split()
    for _head in _words if _line.startswith("=") else _words[:1]:
        _GROUPS[stem(_head)] = _GROUPS.get(stem(_head), frozenset()) | {stem(_word) for _word in _words}


# Hypernyms for closed questions: a novelist is a writer, a documentary is a film.
_NARROWER: dict[str, frozenset[str]] = {}
_NEAR: dict[str, tuple[str, ...]] = {}
for _line in lines("kinds"):
    _head, *_others = _line.split()
    _NARROWER[stem(_head)] = _NARROWER.get(stem(_head), frozenset()) | {stem(other) for other in _others}
    for _one, _rest in ((_head, _others), *((_other, [_head]) for _other in _others)):
        _NEAR[stem(_one)] = (*_NEAR.get(stem(_one), ()), *_rest)

# Inverse relations: "Preceded by X" is in the article of X's successor.
INVERSE = {head: frozenset(rest) for head, *rest in (map(stem, line.split()) for line in lines("inverse"))}


@lru_cache(maxsize=8192)
def alike(stemmed: str) -> frozenset[str]:
    """The stem and those that a text may use for the same relation."""
    # Agent nouns: "built" and "builder", "composed" and "composer".
    agents = {f"{stemmed}er", f"{stemmed}or"} if len(stemmed) > 3 else set()
    acts = {stemmed[:-2]} if stemmed.endswith(("er", "or")) and len(stemmed) > 6 else set()
    return _GROUPS.get(stemmed, frozenset()) | agents | acts | {stemmed}


# +1: the greatest value ranks first; -1: the smallest.
SUPERLATIVES = {**dict.fromkeys(sorted(listed("greatest")), 1), **dict.fromkeys(sorted(listed("smallest")), -1)}
# Adjectives of measure and the quantity that they compare.
MEASURES = paired("measures")
_AMOUNTS = listed("amounts")


def kind_of_noun(noun: str) -> AnswerKind:
    """The kind of answer that "which NOUN" asks for."""
    noun = noun.lower()
    single = noun.removesuffix("s")
    if noun in {"year", "years", "decade", "century"}:
        return AnswerKind.YEAR
    if noun in {"date", "day", "birthday", "month"}:
        return AnswerKind.DATE
    if noun in _AMOUNTS:
        return AnswerKind.NUMBER
    if noun in PLACES or single in PLACES or (single.endswith("ie") and single[:-2] + "y" in PLACES):
        return AnswerKind.PLACE
    if noun in {"surname", "forename"}:
        return AnswerKind.PERSON
    if noun in {"name", "title"}:
        return AnswerKind.NAME
    if names_person(noun):
        return AnswerKind.PERSON
    return AnswerKind.THING


def counts_as(stemmed: str) -> frozenset[str]:
    """The stem and those of its hyponyms: a text that uses one of them supports `stemmed`."""
    return _NARROWER.get(stemmed, frozenset()) | {stemmed}


def near_kinds(stemmed: str) -> tuple[str, ...]:
    """Hypernyms and hyponyms of a stem, as spelled words."""
    return tuple(dict.fromkeys(word for word in _NEAR.get(stemmed, ()) if stem(word) != stemmed))
