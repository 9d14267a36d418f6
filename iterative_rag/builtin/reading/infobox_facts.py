"""Reads the row of the subject's own infobox whose label is what the need asks for: "Country: Vessel Isles"."""

from __future__ import annotations

import re
from dataclasses import replace

from iterative_rag.builtin.language.function_words import content, ordinal, stem, word_set
from iterative_rag.builtin.language.lexicon import AnswerKind, alike
from iterative_rag.builtin.language.text_values import years
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.answer_form import fits, shortened, trimmed
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage, shown_text
from iterative_rag.builtin.reading.subject_names import own_page_trust
from iterative_rag.builtin.tables.table_answers import listed
from iterative_rag.builtin.tables.table_question import asks_for_all
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import unit_of

# Words of a question that a label need not have: "Of which country is Aldermere a part?"
_HOLLOW = frozenset(stem(word) for word in word_set("part located situated lies belong live lives found have has"))
_ITEM = lazy_pattern(r"(?P<value>[^()\[\],;]+)\((?P<years>[^()]*)\)(?:[,;]\s*|$)")
_YEAR = lazy_pattern(r"\d{4}")
_IS = lazy_pattern(r"(?:who|what) (?:is|was|are|were)\b", re.IGNORECASE)
_DOES = lazy_pattern(r"(?:who|whom|what|which|how)\b.{0,40}? (?:did|does|do)\b", re.IGNORECASE)
_REMARK = lazy_pattern(r"\s*\([^()]*\)$")


def infobox_fact(query: Query, page: UnitPage) -> Finding | None:
    """The value under the one label that accounts for all that is asked for of the page's subject."""
    wanted = [word for word in query.asked if ordinal(word) is None and word not in _HOLLOW and not unit_of(word)]
    sure = own_page_trust(query, page)
    if not sure or query.superlative or query.kind in {AnswerKind.YES_NO, AnswerKind.CHOICE}:
        return None
    rows = [unit for unit in page.units if unit.infobox and len(unit.cells) == 2]
    rows = [unit for unit in rows if (wanted and _is_label(query, wanted, unit)) or _is_deed(query, unit)]
    values = [(value, unit) for unit in rows if (value := _value(query, unit.cells[1]))]
    if len(values) != 1:
        return None
    value, unit = values[0]
    return Finding(value, unit.text, sure, f"{page.title}: {shown_text(unit)}")


def _is_label(query: Query, wanted: list[str], unit: PageUnit) -> bool:
    label = content(unit.cells[0])
    # "Spouses" for "Who were her husbands?" and for the second one; of her son, "Children" may be more.
    several = query.kind is AnswerKind.NUMBER or (len(wanted) == 1 and (asks_for_all(query) or bool(query.ordinals)))
    counted = several and len(label) == 1 and any(label[0] in alike(word) for word in wanted)
    told = {*_HOLLOW, *content(query.unit), *(other for word in (*label, *wanted) for other in alike(word))}
    return (label == wanted or counted) and all(word in told or unit_of(word) for word in query.relation)


def _is_deed(query: Query, unit: PageUnit) -> bool:
    """Whether a label says what was done: "First climbers" for "Who first climbed Mount Orm?". Who did something to
    the subject and whom the subject did it to are two things, so "Whom did Ann Lee succeed?" is left to the network."""
    label = content(unit.cells[0])
    if not label or not query.relation or len(query.names) > 1 or _DOES.match(query.text):
        return False
    if query.asked and _IS.match(query.text):  # "Who is her son?" asks for a noun: "Children" may be more
        return False
    if query.kind is AnswerKind.PERSON and years(unit.cells[1]):
        return False
    pairs = {(word, deed) for word in label for deed in query.relation if word in alike(deed) or deed in alike(word)}
    return {word for word, _ in pairs} == set(label) and {deed for _, deed in pairs} == set(query.relation)


def _value(query: Query, cell: str) -> str:
    """The cell, or of "Ann Lee (1901–1910), Tom Voss (1910–1922)" the item of the year or rank that is asked for."""
    items = _items(cell)
    if len(items) > 1:
        value = _chosen(query, items)
    elif query.years or query.ordinals:
        return ""
    else:
        # "330 m (1,083 ft)": the remark may hold the unit that is asked for.
        value = cell if unit_of(query.unit) else _REMARK.sub("", cell)
    value = trimmed(query, value) if asks_for_all(query) else shortened(query, trimmed(query, value))
    return value if value and fits(replace(query, names=()), value) else ""


def item_asked_for(query: Query, cell: str) -> str:
    """Of "Ann Lee (1901–1910), Tom Voss (1910–1922)" the item of the year that is asked for; "" where there is none."""
    items = _items(cell) if query.years else []
    return _chosen(query, items) if len(items) > 1 else ""


def _items(cell: str) -> list[tuple[str, str]]:
    """Values and years of a cell that holds nothing else; [] for any other."""
    items, at = [], 0
    # Item by item from the start: a search would try every character of a long cell without brackets as a beginning.
    while item := _ITEM.match(cell, at):
        items.append((item["value"].strip(), item["years"]))
        at = item.end()
    return items if at == len(cell) and all(_YEAR.search(years) for _, years in items) else []


def _chosen(query: Query, items: list[tuple[str, str]]) -> str:
    if query.years:
        asked = query.years[0]
        values = [value for value, when in items if (said := years(when)) and said[0] <= asked <= said[-1]]
        return values[0] if len(values) == 1 else ""
    if query.ordinals:
        return items[query.ordinals[0] - 1][0] if 0 < query.ordinals[0] <= len(items) else ""
    return listed([value for value, _ in items]) if asks_for_all(query) else ""
