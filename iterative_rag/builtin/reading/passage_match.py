"""Scores the units of a page (sentences, rows) against a query by words: names, relation, ordinals, years."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import content, names_in, ordinal, stem, words
from iterative_rag.builtin.language.lexicon import AnswerKind, alike
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.text.patterns import lazy_pattern

# Weights of a query's words: names and ordinals are more specific than verbs.
NAME_WEIGHT, ORDINAL_WEIGHT, RELATION_WEIGHT, YEAR_WEIGHT = 2.0, 2.5, 1.0, 1.5
# Levels of a word that the unit itself does not contain, by where it occurs; SYNONYM multiplies that of a synonym.
TITLE, TABLE_TITLE, SECTION, LEAD, PAGE, SYNONYM = 0.95, 0.8, 0.6, 0.5, 0.3, 0.85
# Factors of the score without any relation word, without the ordinal, without the year of the query.
NO_RELATION, NO_ORDINAL, NO_YEAR = 0.6, 0.5, 0.5
LEAD_YEAR = 0.8
# Factor where the attribute that is asked for ("the budget of ...") is not mentioned.
NO_ATTRIBUTE = 0.6
# Bound of a name's level where its first or last word is far away, as a multiple of that word's level.
STRANGER = 1.6
# Below LITTLE of a relation of several words the factor is LITTLE_RELATION; DENIED is that of a negated sentence.
LITTLE, LITTLE_RELATION, DENIED = 0.34, 0.8, 0.75
# Share of the score that a namesake's article ("Ann Lee (singer)" for "Ann Lee") loses at most.
NAMESAKE = 0.1


@dataclass(frozen=True, slots=True)
class Match:
    """How well a unit matches a query; all numbers are 0 to 1. `weakest_name` is the level of the farthest name."""

    unit: PageUnit
    score: float
    names: float
    weakest_name: float
    relation: float


@dataclass(frozen=True, slots=True)
class _PageStems:
    """Stems of a page: of its title, its lead (first sentence and infobox) and all of it."""

    title: frozenset[str]
    lead: frozenset[str]
    whole: frozenset[str]


def match_units(query: Query, page: UnitPage) -> list[Match]:
    """Score every unit of a page against a query, in the page's order."""
    title = frozenset(content(page.title))
    first = next((unit.text for unit in page.units if not unit.cells), "")
    lead = frozenset(content(" ".join([first, *(unit.text for unit in page.units if unit.infobox)])))
    stems = _PageStems(title, lead, frozenset(content(page.text)) | title)
    return [_match(query, unit, stems) for unit in page.units]


def _match(query: Query, unit: PageUnit, page: _PageStems) -> Match:
    levels = _WordLevels(unit, page)
    names = [levels.of_name(name) for name in query.names]
    relation = _relation_levels(query, unit, page, levels)
    ordinals = _ordinal_levels(query, unit)
    years = _year_levels(query, unit, page)
    weighted = [
        *((NAME_WEIGHT * min(2, len(name)), value) for name, value in zip(query.names, names, strict=True)),
        *((RELATION_WEIGHT, value) for value in relation),
        *((ORDINAL_WEIGHT, value) for value in ordinals),
        *((YEAR_WEIGHT, value) for value in years),
    ]
    total = sum(weight for weight, _ in weighted)
    score = sum(weight * value for weight, value in weighted) / total if total else 0.0
    return Match(
        unit,
        _penalized(score, query, unit, page, relation, ordinals, years),
        sum(names) / len(names) if names else 1.0,
        min(names, default=1.0),
        sum(relation) / len(relation) if relation else 0.0,
    )


class _WordLevels:
    """How near a unit mentions a word: 1 in the unit itself, less in title, section, lead or elsewhere on the page."""

    def __init__(self, unit: PageUnit, page: _PageStems) -> None:
        self._unit, self._page = unit, page
        self._own = frozenset(content(unit.text))
        self._around = frozenset(content(f"{unit.section} {' '.join(unit.header)}"))
        self._names = names_in(unit.text) | page.title

    def of_word(self, word: str, near: float) -> float:
        """`near` is the level of a word that only the rest of the page mentions."""
        if word in self._own:
            return 1.0
        if word in self._page.title:
            return TABLE_TITLE if self._unit.header else TITLE
        if word in self._around:
            return TABLE_TITLE if self._unit.header else SECTION
        if word in self._page.lead and near:
            return max(near, LEAD) if near == PAGE else near
        return near if word in self._page.whole else 0.0

    def of_name(self, name: tuple[str, ...]) -> float:
        levels = [
            self.of_word(word, PAGE) * (1.0 if word in self._names or word not in self._own else PAGE) for word in name
        ]
        # "Orm Tower" is not just any tower: without its first and last word nearby, the mention is of another name.
        weakest = min(levels[0], levels[-1])
        mean = sum(levels) / len(levels)
        return mean if weakest >= LEAD else min(mean, STRANGER * weakest)


def _relation_levels(query: Query, unit: PageUnit, page: _PageStems, levels: _WordLevels) -> list[float]:
    """The level of each relation word, itself or by a synonym; 1 where a set phrase states the relation."""
    relation = [
        max(
            levels.of_word(word, PAGE if word in query.asked else 0.1),
            *(SYNONYM * levels.of_word(other, 0.0) for other in alike(word) if other != word),
            0.0,
        )
        for word in query.relation
    ]
    if not page.title & query.name_words:
        return relation
    if not unit.cells and _LIFE_BRACKET.match(unit.text):
        # "Ann Lee (3 May 1801 – 1866) was ..." states birth and death without the words.
        relation = [1.0 if word in LIFE_WORDS else value for word, value in zip(query.relation, relation, strict=True)]
    if NATIONALITY in query.relation and NATION.search(unit.text):
        relation = [1.0] * len(relation)
    if TRADES & {*query.relation} and TRADE.search(unit.text):
        relation = [1.0 if word in TRADES else value for word, value in zip(query.relation, relation, strict=True)]
    return relation


def _ordinal_levels(query: Query, unit: PageUnit) -> list[float]:
    ranks = _ranks(unit) if query.ordinals else frozenset()
    # The second wife is the second item of the row that lists the wives.
    listed = unit.cells[1].count(",") + unit.cells[1].count(";") + 1 if unit.infobox and query.kind in _LISTED else 0
    return [1.0 if rank in ranks or 1 < listed >= rank else 0.0 for rank in query.ordinals]


def _year_levels(query: Query, unit: PageUnit, page: _PageStems) -> list[float]:
    # "the 2023 film X": the year identifies X, and stands in the lead of its article.
    top = LEAD_YEAR if page.title & query.name_words else 0.0
    return [
        1.0 if _has_year(year, unit) else top if not unit.header and str(year) in page.lead else 0.0
        for year in query.years
    ]


def _penalized(
    score: float,
    query: Query,
    unit: PageUnit,
    page: _PageStems,
    relation: list[float],
    ordinals: list[float],
    years: list[float],
) -> float:
    """Lower a score for what the query asks and the unit does not mention."""
    if relation and max(relation) < 0.5:
        score *= NO_RELATION
    elif len(relation) > 1 and sum(relation) / len(relation) < LITTLE:
        score *= LITTLE_RELATION
    if not unit.cells and _DENIAL.search(unit.text):
        score *= DENIED
    if query.attribute in query.relation and relation[query.relation.index(query.attribute)] < LEAD:
        score *= NO_ATTRIBUTE
    if ordinals and not all(ordinals) and not query.superlative:
        score *= NO_ORDINAL
    if years and not any(years) and not {str(year) for year in query.years} & page.title:
        score *= NO_YEAR
    other = page.title - query.name_words
    if page.title & query.name_words and other - frozenset(query.relation):
        score *= 1.0 - NAMESAKE * len(other) / len(page.title)
    return score


def _ranks(unit: PageUnit) -> frozenset[int | None]:
    cells = {int(cell) for cell in unit.cells if cell.isdigit() and len(cell) < 5}
    return frozenset({ordinal(word) for word in words(unit.text)} | cells)


_LISTED = frozenset({AnswerKind.PERSON, AnswerKind.THING, AnswerKind.NAME})
TRADES = frozenset(stem(word) for word in ["occupation", "profession", "job", "career", "trade"])
TRADE = lazy_pattern(
    r"\b(?:is|was|works as|worked as) an? (?:(?:former|retired|noted|famous|renowned|leading|professional) )*"
    r"(?:[A-Z][\w-]+ )*(?P<list>[a-z][\w-]*(?:(?:,? and (?:an? )?|, (?:an? )?| )[a-z][\w-]*){0,7}?)"
    r"(?=\s*[.;(]|,? (?:who|whose|which|that|known|best|from|in|at|of|for|born|and the|with|on|to|during|by|as)\b"
    r"|, [A-Z]|$)"
)
NATIONALITY = stem("nationality")
NATION = lazy_pattern(r"\b(?:is|was) an? (?:[a-z0-9-]+ ){0,3}(?P<nation>[A-Z][a-z]+(?:[- ][A-Z][a-z]+)?)\b(?! [A-Z])")
LIFE_WORDS = frozenset({stem("born"), stem("died")})
_LIFE_BRACKET = lazy_pattern(r"^[^.(]{2,120}\([^)]*\d{4}")
_DENIAL = lazy_pattern(r"\b(?:not|never|nor)\b")
_RANGE = lazy_pattern(r"\b(\d{4})\s*[–-]\s*(\d{4}|present)\b")


def _has_year(year: int, unit: PageUnit) -> bool:
    """Whether a unit contains the year, or in a row a range of years around it."""
    if re.search(rf"\b{year}\b", unit.text):
        return True
    return bool(unit.cells) and any(
        int(match[1]) <= year <= (9999 if match[2] == "present" else int(match[2]))
        for match in _RANGE.finditer(unit.text)
    )
