"""Refuses a value whose place on its page says that it is of another kind than the need asks for.

Only what is clear counts: the label that a value stands under, a rank before an office. Everything else is
left to the network, and to the check whether the quote bears the value out.
"""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content, stem, word_set
from iterative_rag.builtin.language.lexicon import (
    MEASURES,
    AnswerKind,
    alike,
)
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import NOTHING
from iterative_rag.builtin.reading.page_units import PageUnit
from iterative_rag.builtin.tables.cell_values import header_unit
from iterative_rag.text import units

# Words that make another office of the one they stand before.
_LESSER = frozenset(stem(word) for word in word_set("deputy vice assistant acting honorary shadow associate"))
# Nobody shares a prize with a spouse because the row says who that is.
_KIN = frozenset(map(stem, word_set("spouse spouses")))
_MEASURES = frozenset(stem(MEASURES[word]) for word in ("long", "wide", "high", "tall", "deep", "old"))


def is_of_other_kind(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether a value that stands in a unit of a page is clearly not of the kind asked for."""
    if value == NOTHING:
        return not _denies(query, unit)
    if unit.infobox and unit.cells and value.strip() == unit.cells[0].strip():
        return True  # the label of a row
    return (unit.infobox and _is_elsewhere(query, unit, value)) or _is_lesser(query, unit)


def _denies(query: Query, unit: PageUnit) -> bool:
    """Whether "none" stands under what is asked for: "Spouse: none" says nothing about a painter."""
    label = content(unit.cells[0]) if unit.cells else content(unit.text)
    return any(alike(word) & set(label) for word in (*query.asked, *query.relation))


def _is_elsewhere(query: Query, unit: PageUnit, value: str) -> bool:
    """Whether a value stands under a label that names something else than is asked for."""
    label = unit.cells[0]
    kin, told = _KIN & set(content(label)), {*query.asked, *query.relation}
    return (
        value not in unit.cells[-1]
        or _has_other_unit(query, label)
        or _is_other_measure(query, label)
        or (bool(kin) and "partn" not in told and all(kin.isdisjoint(alike(word)) for word in told))
    )


def _is_other_measure(query: Query, label: str) -> bool:
    """Whether a label names another measure than is asked for: "Length" for the height of a bridge."""
    asked = set(query.asked) & _MEASURES
    said = set(content(label)) & _MEASURES
    return bool(asked and said) and asked.isdisjoint(said)


def _has_other_unit(query: Query, header: str) -> bool:
    """Whether a header names a unit of measure where things are counted: "Length (m)" for "How many bridges"."""
    measured = header_unit(header)
    counted = query.kind is AnswerKind.NUMBER and bool(query.asked) and query.text.casefold().startswith("how many")
    return bool(measured) and counted and not units.unit_of(query.unit) and not set(content(header)) & set(query.asked)


def _is_lesser(query: Query, unit: PageUnit) -> bool:
    """Whether the office that is asked for stands only behind "deputy" or the like, or without the one asked for."""
    said = content(unit.text)
    if wanted := _LESSER & {*query.asked, *query.relation}:
        return not wanted & set(said)
    office = query.asked[-1] if query.asked else ""
    places = [index for index, word in enumerate(said) if word == office]
    return bool(places) and all(index and said[index - 1] in _LESSER for index in places)
