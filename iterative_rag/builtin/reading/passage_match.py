"""How well each piece of a page fits a query, by words: names, relation, ordinals, years."""

from __future__ import annotations

import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import content, names_in, ordinal, stem, words
from iterative_rag.builtin.language.lexicon import AnswerKind, alike
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.text.patterns import lazy_pattern

# Weights of a need's words: a name or an ordinal says more than a verb.
NAME_WEIGHT, ORDINAL_WEIGHT, RELATION_WEIGHT, YEAR_WEIGHT = 2.0, 2.5, 1.0, 1.5
# How much a word counts that does not stand in the piece itself, or only as a synonym.
TITLE, TABLE_TITLE, SECTION, LEAD, PAGE, SYNONYM = 0.95, 0.8, 0.6, 0.5, 0.3, 0.85
# What is left of the score without any word of the relation, without the ordinal, without the year that is asked for.
NO_RELATION, NO_ORDINAL, NO_YEAR = 0.6, 0.5, 0.5
LEAD_YEAR = 0.8
# What is left where the attribute that is asked for ("the budget of ...") is not spoken of.
NO_ATTRIBUTE = 0.6
# What a name's match comes to where its first or last word is far away, as a multiple of that word's own.
STRANGER = 1.6
# Little of a relation of several words, and a sentence that denies.
LITTLE, LITTLE_RELATION, DENIED = 0.34, 0.8, 0.75
# What an article of a namesake ("Ann Lee (singer)" for "Ann Lee") loses.
NAMESAKE = 0.1


@dataclass(frozen=True, slots=True)
class Match:
    """How well a piece fits. All numbers are 0 to 1."""

    unit: PageUnit
    score: float
    names: float
    weakest_name: float
    relation: float


def match_units(query: Query, page: UnitPage) -> list[Match]:
    title = frozenset(content(page.title))
    whole = frozenset(content(page.text)) | title
    first = next((unit.text for unit in page.units if not unit.cells), "")
    lead = frozenset(content(" ".join([first, *(unit.text for unit in page.units if unit.infobox)])))
    return [_match(query, unit, title, lead, whole) for unit in page.units]


def _match(query: Query, unit: PageUnit, title: frozenset[str], lead: frozenset[str], whole: frozenset[str]) -> Match:
    own = frozenset(content(unit.text))
    around = frozenset(content(f"{unit.section} {' '.join(unit.header)}"))
    subject = 0.0 if unit.header else TITLE

    def level(word: str, near: float) -> float:
        if word in own:
            return 1.0
        if word in title:
            return subject or TABLE_TITLE
        if word in around:
            return TABLE_TITLE if unit.header else SECTION
        if word in lead and near:
            return max(near, LEAD) if near == PAGE else near
        return near if word in whole else 0.0

    large = names_in(unit.text)

    def name_level(name: tuple[str, ...]) -> float:
        levels = [
            level(word, PAGE) if word in large | title or word not in own else level(word, PAGE) * PAGE for word in name
        ]
        # "Orm Tower" is not any tower: the first and the last word of a name must be near, or it is another's.
        weakest = min(levels[0], levels[-1])
        mean = sum(levels) / len(levels)
        return mean if weakest >= LEAD else min(mean, STRANGER * weakest)

    names = [name_level(name) for name in query.names]
    relation = [
        max(
            level(word, PAGE if word in query.asked else 0.1),
            *(SYNONYM * level(other, 0.0) for other in alike(word) if other != word),
            0.0,
        )
        for word in query.relation
    ]
    if not unit.cells and title & query.name_words and _LIFE_BRACKET.match(unit.text):
        # "Ann Lee (3 May 1801 – 1866) was ..." says when she was born and died.
        relation = [1.0 if word in LIFE_WORDS else value for word, value in zip(query.relation, relation, strict=True)]
    if NATIONALITY in query.relation and title & query.name_words and NATION.search(unit.text):
        relation = [1.0] * len(relation)
    if TRADES & {*query.relation} and title & query.name_words and TRADE.search(unit.text):
        relation = [1.0 if word in TRADES else value for word, value in zip(query.relation, relation, strict=True)]
    ranks = _ranks(unit) if query.ordinals else frozenset()
    # The second wife is the second of the row that lists the wives.
    listed = unit.cells[1].count(",") + unit.cells[1].count(";") + 1 if unit.infobox and query.kind in _LISTED else 0
    ordinals = [1.0 if rank in ranks or 1 < listed >= rank else 0.0 for rank in query.ordinals]
    # "the 2023 film X": the year tells which X, and stands at the top of its article.
    top = LEAD_YEAR if title & query.name_words else 0.0
    years = [
        1.0 if _has_year(year, unit) else top if not unit.header and str(year) in lead else 0.0 for year in query.years
    ]
    weighted = [
        *((NAME_WEIGHT * min(2, len(name)), value) for name, value in zip(query.names, names, strict=True)),
        *((RELATION_WEIGHT, value) for value in relation),
        *((ORDINAL_WEIGHT, value) for value in ordinals),
        *((YEAR_WEIGHT, value) for value in years),
    ]
    total = sum(weight for weight, _ in weighted)
    score = sum(weight * value for weight, value in weighted) / total if total else 0.0
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
    if years and not any(years) and not {str(year) for year in query.years} & title:
        score *= NO_YEAR
    if title & query.name_words and title - query.name_words - frozenset(query.relation):
        score *= 1.0 - NAMESAKE * len(title - query.name_words) / len(title)
    return Match(
        unit,
        score,
        sum(names) / len(names) if names else 1.0,
        min(names, default=1.0),
        sum(relation) / len(relation) if relation else 0.0,
    )


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
    """The year itself, or in a row a span of years around it."""
    if re.search(rf"\b{year}\b", unit.text):
        return True
    return bool(unit.cells) and any(
        int(match[1]) <= year <= (9999 if match[2] == "present" else int(match[2]))
        for match in _RANGE.finditer(unit.text)
    )
