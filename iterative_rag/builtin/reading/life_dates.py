"""Reads birth and death from the bracket after a name: "Ann Lee (3 May 1801 – 9 June 1866) was ..."."""

from __future__ import annotations

import re

from iterative_rag.builtin.language.function_words import content, stem
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.text_values import dates
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.text.patterns import lazy_pattern

# The trust in such a date: the form cannot be mistaken, but the article may be a namesake's.
SURE = 0.9
_LIFE = lazy_pattern(r"^(?P<name>[^.(]{2,120})\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)?)\)")
_DASH = lazy_pattern(r"\s*[–—]\s*|\s+-\s*|\s*-\s+|; died |, died ")
_BIRTH, _DEATH = stem("born"), stem("died")


def life_date(query: Query, page: UnitPage) -> Finding | None:
    """The date of birth or death of the page's subject, if the query asks for it."""
    wanted = _BIRTH if _BIRTH in query.relation else _DEATH if _DEATH in query.relation else ""
    if not wanted or query.kind not in {AnswerKind.DATE, AnswerKind.YEAR}:
        return None
    lead = next((unit.text for unit in page.units if not unit.cells), "")
    title = set(content(re.sub(r"\s*\([^)]*\)$", "", page.title)))
    match = _LIFE.match(lead)
    if match is None or not query.name_words:
        return None
    # A stage name stands in the title alone; a fuller one in the lead shares a word with the title.
    said = set(content(match["name"]))
    if not query.name_words <= (title | said if title & said else title):
        return None
    halves = [half for half in _DASH.split(match["inside"]) if dates(half)]
    if not halves or (wanted == _DEATH and len(halves) < 2):
        return None
    half = halves[0] if wanted == _BIRTH else halves[-1]
    _, start, end = dates(half)[0]
    return Finding(half[start:end], lead, SURE, lead)
