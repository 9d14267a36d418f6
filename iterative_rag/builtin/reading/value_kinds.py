"""Refuses a value whose place on its page says that it is of another kind than the need asks for.

Only what is clear counts: the column or label that a value stands under, the noun that a number counts, the words that
a name ends in, a rank before an office. Everything else is left to the network.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import content, stem, word_set, words
from iterative_rag.builtin.language.hypernyms import counts_as
from iterative_rag.builtin.language.lexicon import INVERSE, MEASURES, AnswerKind, alike, are_told_apart, kind_of_noun
from iterative_rag.builtin.language.nouns import SITES
from iterative_rag.builtin.language.text_values import dates
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import NOTHING
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.builtin.reading.subject_names import is_row_of_namesake
from iterative_rag.builtin.tables.cell_values import cell_value, header_unit
from iterative_rag.text import units
from iterative_rag.text.patterns import lazy_pattern

# Headers of a column that ranks or numbers the rows.
_RANKS = frozenset({"no", "no.", "#", "rank", "number", "nr", "nr.", "pos", "pos.", "position"})
# Words that make another office of the one they stand before.
_LESSER = frozenset(stem(word) for word in word_set("deputy vice assistant acting honorary shadow associate"))
_DAYS = frozenset(stem(word) for word in word_set("day date birthday"))
# Names of these kinds never end in a word for another of them: no country is called "... River".
_ENDINGS = (word_set("river stream creek"), word_set("sea ocean lake"), word_set("mountain mountains"), SITES)
_TOLD_BY_NAME = word_set("river country nation continent sea ocean language")
# So many words may stand between a number and the noun that it counts.
_FAR = 3
_COUNTED = lazy_pattern(r"how many (?P<what>(?:[a-zà-þ-]+ ?){1,4})", re.I)
_DEED = lazy_pattern(r"(?P<deed>murder|assassination|killing|shooting|poisoning|arrest|kidnapping) of (?:\w+ )?$")
_DONE_BY = lazy_pattern(r"(?<![\w’'-])(?P<deeds>[a-z]+(?:(?:, and|,| and) [a-z]+)*) by (?:[a-z-]+ ){0,4}$")
_DEEDS = lazy_pattern(r"(?:, and|,| and) ")
_CLAIMED = lazy_pattern(r" (?P<deed>[a-z]+) by (?P<who>[A-ZÀ-Þ][^?,]+)\?")
_KIN_CLAIMED = lazy_pattern(r"(?i:is|was) (?P<one>[A-ZÀ-Þ].+?) the (?P<kin>[a-z]+) of (?P<other>[A-ZÀ-Þ][^?]+)\??$")
_DATED = lazy_pattern(
    r"\b(?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring|(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December)(?: \d{1,2},)?) $"
)
# "323 feet higher" is a difference and no height.
_MORE = lazy_pattern(
    r" (?:(?:more|less|fewer) than|(?:high|tall|low|long|short|deep|wid|old|young|larg|small|heavi|light|fast)e?r)\b"
)
# "430 km long" is no depth.
_MEASURED = lazy_pattern(r" (?P<how>long|wide|high|tall|deep|old)\b")
_MEASURES = frozenset(stem(MEASURES[word]) for word in ("long", "wide", "high", "tall", "deep", "old"))
_MORE_ASKED = lazy_pattern(r"\b(?:more|less|fewer|\w{2,}er than|how (?:much|many \w+) \w+er)\b", re.I)
# What is counted lies on one side of a number.
_BOUND = lazy_pattern(
    r"\b(?:before|after|since|until|(?:more|less|fewer|later|earlier) than|over|under|at least) "
    r"(?P<number>\d[\d,.]*\d|\d)"
)
# What a lead calls its subject stands before the verb: "Ann Lee, born Ann Voss, was ...".
_CALLED = lazy_pattern(r"^[^.;]{2,160}? (?=(?:is|was|are|were) )")
_NOUNS = frozenset({AnswerKind.PERSON, AnswerKind.PLACE})


def is_of_other_kind(query: Query, page: UnitPage, unit: PageUnit, value: str) -> bool:
    """Whether a value that stands in a unit of a page is clearly not of the kind, or not of the subject, asked for."""
    if value == NOTHING:
        return not _denies(query, unit)
    if unit.infobox and unit.cells and value.strip() == unit.cells[0].strip():
        return True  # the label of a row
    if (unit.infobox and _is_of_another(query, page, unit)) or (unit.cells and _is_elsewhere(query, unit, value)):
        return True
    if unit.header and is_row_of_namesake(query, unit):
        return True
    if query.kind is AnswerKind.NUMBER:
        return _counts_other(query, unit, value)
    if query.asked[-1:] and query.asked[-1] in _DAYS and (said := dates(value)):
        return all(not date.month for date, _, _ in said)
    if query.kind is AnswerKind.PERSON and (_is_victim(query, unit, value) or _did_other(query, unit, value)):
        return True
    return _is_lesser(query, unit) or _ends_otherwise(query, value)


def _denies(query: Query, unit: PageUnit) -> bool:
    """Whether "none" stands under what is asked for: "Spouse: none" says nothing about a painter."""
    label = content(unit.cells[0]) if unit.cells else content(unit.text)
    return any(alike(word) & set(label) for word in (*query.asked, *query.relation))


def _is_of_another(query: Query, page: UnitPage, unit: PageUnit) -> bool:
    """Whether a row of another subject's infobox says of it what is asked, or has nothing to do with what is asked.

    A row with a part of what is asked may well answer: "Director: Ann Lee" in that of a film with the person named.
    """
    label = {other for word in content(unit.cells[0]) for other in alike(word)}
    lead = next((one.text for one in page.units if not one.cells), "")
    called = _CALLED.match(lead)
    own = {*content(page.title), *content(called[0] if called else ""), *content(unit.text)}
    said = len(label & set(query.relation))
    return said in {0, len(query.relation)} and 0 < len(query.relation) <= said + 1 and not query.name_words <= own


def _is_elsewhere(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether a value stands in another column than the one that is asked for, or in a row of another rank."""
    if unit.infobox:
        label = unit.cells[0]
        return value not in unit.cells[-1] or _has_other_unit(query, label) or _is_other_measure(query, label)
    columns = [header for header, cell in zip(unit.header, unit.cells, strict=False) if value in cell]
    if query.ordinals and not query.superlative:
        ranked = [cell for header, cell in zip(unit.header, unit.cells, strict=False) if header.lower() in _RANKS]
        if ranked and not any(cell_value(cell).number in query.ordinals for cell in ranked):
            return True
    if query.kind is AnswerKind.NUMBER:
        return bool(columns) and all(_has_other_unit(query, header) or _ranks(query, header) for header in columns)
    meant = [header for header in unit.header if len(stems := content(header)) == 1 and stems[0] in query.asked]
    return bool(meant and columns) and not set(meant) & set(columns)


def _is_other_measure(query: Query, label: str) -> bool:
    """Whether a label names another measure than is asked for: "Length" for the height of a bridge."""
    asked = set(query.asked) & _MEASURES
    said = set(content(label)) & _MEASURES
    return bool(asked and said) and asked.isdisjoint(said)


def _ranks(query: Query, header: str) -> bool:
    """Whether a header is that of a rank, and none is asked for: "Rank by population"."""
    return words(header)[:1] in (["rank"], ["ranking"]) and not {"rank"} & {*query.asked, *query.relation}


def _has_other_unit(query: Query, header: str) -> bool:
    """Whether a header names a unit of measure where things are counted: "Length (m)" for "How many bridges"."""
    measured = header_unit(header)
    counted = query.kind is AnswerKind.NUMBER and bool(query.asked) and query.text.casefold().startswith("how many")
    return bool(measured) and counted and not units.unit_of(query.unit) and not set(content(header)) & set(query.asked)


def _counts_other(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether a number is a year, or counts something else than is asked for: "four main islands" for people, all
    bridges for those "opened before 1900"."""
    at = unit.text.find(value)
    if at >= 0 and _MORE.match(unit.text, at + len(value)) and not _MORE_ASKED.search(query.text):
        return True
    if at >= 0 and (measured := _MEASURED.match(unit.text, at + len(value))):
        measure = stem(MEASURES[measured["how"]])
        if query.asked[-1:] and query.asked[-1] in _MEASURES and query.asked[-1] != measure:
            return True
    if value.isdigit() and dates(value) and (_DATED.search(unit.text[: max(0, at)]) or _is_column(query, unit, value)):
        return True
    counted = _COUNTED.match(query.text)
    if counted and any(bound["number"] not in unit.text for bound in _BOUND.finditer(query.text)):
        return True
    asked = next((word for word in counted["what"].split() if kind_of_noun(word) in _NOUNS), "") if counted else ""
    if not asked:
        return False
    after = words(value)[1:] + words(unit.text[at + len(value) :].split(".")[0])[:_FAR] if at >= 0 else []
    for word in after[:_FAR]:
        kind = kind_of_noun(word)
        if word.endswith("s") and kind in _NOUNS:
            return kind is not kind_of_noun(asked) and stem(word) not in counts_as(stem(asked))
    return False


def _is_column(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether a value fills a cell of a column that has nothing to do with what is asked for."""
    columns = [header for header, cell in zip(unit.header, unit.cells, strict=False) if value == cell.strip()]
    return bool(columns) and all(not set(content(header)) & {*query.asked, *query.relation} for header in columns)


def _is_lesser(query: Query, unit: PageUnit) -> bool:
    """Whether the office that is asked for stands only behind "deputy" or the like, or without the one asked for."""
    said = content(unit.text)
    if wanted := _LESSER & {*query.asked, *query.relation}:
        return not wanted & set(said)
    office = query.asked[-1] if query.asked else ""
    places = [place for place, word in enumerate(said) if word == office]
    return bool(places) and all(place and said[place - 1] in _LESSER for place in places)


def _is_victim(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether a person is the victim of the deed whose doer is asked for: "the murder of James Garfield"."""
    if query.asked:
        return False
    deeds = {other for word in query.relation for other in alike(word)}
    before = unit.text[: max(0, unit.text.find(value))]
    deed = _DEED.search(before)
    return deed is not None and stem(deed["deed"]) in deeds


def _did_other(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether the text credits the person with another deed than is asked for: "built by Tom Ruud" for a designer."""
    before = unit.text[: max(0, unit.text.find(value))]
    return not query.asked and is_of_other_deed(query.relation, before)


def names_other_deed(query: Query, unit: PageUnit) -> bool:
    """Whether a unit credits the person with another deed than is claimed: "built by Tom Ruud" for "designed by"."""
    claimed = _CLAIMED.search(query.text)
    if claimed is None or (at := unit.text.find(claimed["who"])) < 0:
        return False
    return is_of_other_deed([stem(claimed["deed"])], unit.text[:at])


def names_otherwise(query: Query, unit: PageUnit) -> bool:
    """Whether a unit tells of another deed or of the inverse of the relation that is claimed."""
    return names_other_deed(query, unit) or names_inverse_relation(query, unit)


def names_inverse_relation(query: Query, unit: PageUnit) -> bool:
    """Whether a unit names the two persons of a claim in the inverse relation: "the daughter of Ann Lee" or "her mother
    Ann Lee" for "Is Una Lee the mother of Ann Lee?"."""
    claimed = _KIN_CLAIMED.match(query.text)
    if claimed is None or (relation := stem(claimed["kin"])) not in INVERSE:
        return False
    if f"{claimed['kin']} {claimed['other']}" in unit.text:
        return True
    said = content(unit.text)
    named = all(set(said) & set(content(claimed[side])) for side in ("one", "other"))
    return named and bool(INVERSE[relation] & set(said)) and not alike(relation) & set(said)


def is_of_other_deed(relation: Sequence[str], before: str) -> bool:
    """Whether a text ends in the passive of deeds that are none of a relation's ("designed by the architect ")."""
    done = _DONE_BY.search(before)
    deeds = [stem(word) for word in _DEEDS.split(done["deeds"])] if done else []
    told = itertools.product(relation, deeds)
    return bool(relation and deeds) and all(are_told_apart(one, deed) for one, deed in told)


def _ends_otherwise(query: Query, value: str) -> bool:
    """Whether a name ends in a word for another kind of place than is asked for: "Grey Sea" for "Which river"."""
    asked = next((word for word in _TOLD_BY_NAME if query.asked[-1:] == (stem(word),)), "")
    last = words(value)[-1:]
    own = next((family for family in _ENDINGS if set(last) & family), None)
    return bool(asked) and own is not None and value[:1].isupper() and asked not in own
