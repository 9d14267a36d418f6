"""Reads birth and death from an infobox ("Born: 3 May 1801, Tellby") and from the bracket after a name: "Ann Lee (3 May
1801 – 9 June 1866) was ..."."""

from __future__ import annotations

from dataclasses import replace

from iterative_rag.builtin.language.function_words import content, stem
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.nouns import LARGER, SMALLER
from iterative_rag.builtin.language.text_values import dates
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.answer_form import after_date, place_part, shortened
from iterative_rag.builtin.reading.findings import Finding
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.builtin.reading.shown_passages import shown_text
from iterative_rag.builtin.reading.subject_names import SURE, namesake_share
from iterative_rag.text.patterns import lazy_pattern

_LIFE = lazy_pattern(r"^(?P<name>[^.(]{2,120})\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)?)\)")
_DASH = lazy_pattern(r"\s*[–—]\s*|\s+-\s*|\s*-\s+|; died |, died ")
_BIRTH, _DEATH = stem("born"), stem("died")


def life_fact(query: Query, page: UnitPage) -> Finding | None:
    """The date or place of birth or death of the page's subject, if the query asks for it."""
    wanted = _BIRTH if _BIRTH in query.relation else _DEATH if _DEATH in query.relation else ""
    if not wanted or query.kind not in {AnswerKind.DATE, AnswerKind.YEAR, AnswerKind.PLACE} or not query.name_words:
        return None
    title = set(content(page.bare_title))
    told = _of_infobox(query, page, wanted) if query.name_words <= title else None
    told = told or (_of_lead(query, page, wanted, title) if query.kind is not AnswerKind.PLACE else None)
    return replace(told, score=told.score * namesake_share(query, page)) if told else None


def _of_infobox(query: Query, page: UnitPage, wanted: str) -> Finding | None:
    for unit in page.units:
        if unit.infobox and len(unit.cells) == 2 and content(unit.cells[0]) == [wanted]:
            cell = unit.cells[1]
            if query.kind is AnswerKind.PLACE:
                # "In which state" asks for a part of the place, "in which hospital" for something else.
                part = not query.asked or query.asked[-1] in SMALLER | LARGER
                value = place_part(query, rest) if (rest := after_date(cell)) != cell and part else ""
            else:
                value = _said(query, cell) if dates(cell) else ""
            if value:
                return Finding(value, unit.text, SURE, f"{page.title}: {shown_text(unit)}")
    return None


def _of_lead(query: Query, page: UnitPage, wanted: str, title: set[str]) -> Finding | None:
    lead = next((unit.text for unit in page.units if not unit.cells), "")
    match = _LIFE.match(lead)
    if match is None:
        return None
    # A stage name stands in the title alone; a fuller one in the lead shares a word with the title.
    said = set(content(match["name"]))
    if not query.name_words <= (title | said if title & said else title):
        return None
    halves = [half for half in _DASH.split(match["inside"]) if dates(half)]
    if not halves or (wanted == _DEATH and len(halves) < 2):
        return None
    return Finding(_said(query, halves[0] if wanted == _BIRTH else halves[-1]), lead, SURE, lead)


def _said(query: Query, text: str) -> str:
    """The first date of a text, or its year."""
    _, start, end = dates(text)[0]
    return shortened(query, text[start:end])
