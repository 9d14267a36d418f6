"""Whether a page, a row or a sentence is about what a query names, or about a namesake or something else."""

from __future__ import annotations

from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import content, stem, word_set
from iterative_rag.builtin.language.lexicon import AnswerKind, counts_as, kind_of_noun
from iterative_rag.builtin.language.nouns import NOT_PERSON_WORDS
from iterative_rag.builtin.question.need_query import Query, read_query
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.text.patterns import lazy_pattern

# A page with a smaller share of the words of the query's names is not read.
LEAST_NAMES = 0.5
# The trust in what a form that cannot be mistaken says: the article may still be a namesake's.
SURE = 0.9
# The share of it that is left where the title has a bracket of which the need says nothing: "Ann Lee (captain)".
NAMESAKE = 0.9
_BRACKET = lazy_pattern(r"\(([^)]*)\)$")
_NUMBER = lazy_pattern(r"\d+(?:st|nd|rd|th|s)?|[ivxlc]{2,}")
# "Dr" and "II" are no names.
SHORTEST_NAME = 3
_NO_SURNAMES = frozenset(map(stem, NOT_PERSON_WORDS))
_ADDRESSES = frozenset(stem(word) for word in word_set("madam madame mademoiselle miss sir dame lord saint count duke"))


def is_named(query: Query, page: UnitPage) -> bool:
    """Whether a page holds enough of the words of the query's names to be read."""
    names = query.name_words
    said = {*content(page.title), *content(page.text)}
    return len(names & said) >= LEAST_NAMES * len(names)


def own_page_trust(query: Query, page: UnitPage) -> float:
    """The trust in what the page of a need's subject states explicitly; 0 if it is another's page."""
    title = set(content(page.bare_title))
    return SURE * namesake_share(query, page) if query.name_words and query.name_words <= title else 0.0


def namesake_share(query: Query, page: UnitPage) -> float:
    """The share of its trust that is left to what a page says, since a bracket in its title may be a namesake's."""
    bracket = _BRACKET.search(page.title)
    asked = {*query.asked, *query.relation, *query.name_words}
    return NAMESAKE if bracket and not any(counts_as(word) & asked for word in content(bracket[1])) else 1.0


def is_of_others(query: Query, page: UnitPage, unit: PageUnit) -> bool:
    """Whether nothing tells that a unit speaks of what the query names: a sentence on the page of a namesake."""
    title = content(page.bare_title)
    if query.name_words.issuperset(title):
        return False
    said = {*content(unit.text), *title}
    asked = content(query.text)
    number, other = _numbers(title), _numbers(asked)
    if number and other and number.isdisjoint(other) and set(title) - number <= set(asked):
        return other.isdisjoint(said)  # the "68th Orm Awards" where the 66th are asked for
    return any(
        said.isdisjoint(rest) and (_are_namesakes(name, title) or rest.isdisjoint(content(page.text)))
        for name in query.names
        if not set(title).isdisjoint(name) and (rest := _told_apart(name, title))
    )


def is_of_a_longer_name(query: Query, text: str) -> bool:
    """Whether a title, or a cell, goes on behind the name that a query has alone: "Osk Footbridge" is not the Osk."""
    told, asked = content(text.split(",")[0]), content(query.text)
    return any(
        tuple(told[at : at + len(name)]) == tuple(name) and told[at + len(name)] not in asked
        for name in query.names
        for at in range(len(told) - len(name))
    )


def is_told_of_another(query: Query, before: str) -> bool:
    """Whether what stands before a value names something half of whose name a query has: "Orm Ramblers" where the Orm
    Harriers are asked for, "Bo Lee" for Ann Lee."""
    told = [name for name in read_query(f"- {before}").names if not _is_title(name[0])]
    return any(
        not set(name) <= set(content(before))
        and any(len(name) == len(other) and (name[0] == other[0]) != (name[-1] == other[-1]) for other in told)
        for name in query.names
    )


def _numbers(words: Sequence[str]) -> set[str]:
    """The years, ordinals and Roman numerals that tell one event or part of a series from another."""
    return {word for word in words if _NUMBER.fullmatch(word)}


def _told_apart(name: Sequence[str], title: Sequence[str]) -> set[str]:
    """What of a name a title lacks: "orm" of "Orm Airport" in "Crystal Airport". "Gray Petrel" may be the "Grey
    Petrel", and "H. Brenk" Harald Brenk."""
    initials = {word[0] for word in title if word not in name}
    rest = {word for word in name if word not in title and word[0] not in initials}
    return set() if any(len(word) < SHORTEST_NAME or _is_title(word) for word in rest) else rest


def _is_title(word: str) -> bool:
    """Whether a word of a name only says how somebody is addressed, or what somebody is: "Lord", "President"."""
    return word in _ADDRESSES or kind_of_noun(word) is AnswerKind.PERSON


def _are_namesakes(name: Sequence[str], title: Sequence[str]) -> bool:
    """Whether two persons share a surname: "Edith Brenk" and "Harald Brenk"; not "Summer Games" and "Orm Games"."""
    return 1 < len(name) == len(title) and name[-1] == title[-1] and name[-1] not in _NO_SURNAMES
