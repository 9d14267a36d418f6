"""Picks the answer out of infobox cells and names, and decides whether the page's subject can be the answer."""

from __future__ import annotations

import re
from functools import lru_cache

from iterative_rag.builtin.language.function_words import content, names_in, stem, words
from iterative_rag.builtin.language.lexicon import INVERSE, AnswerKind, alike
from iterative_rag.builtin.language.nouns import KINSHIP, LARGER, NOT_PERSON_WORDS, ROLES, SMALLER
from iterative_rag.builtin.language.text_values import dates
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading import typed_spans
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.builtin.reading.passage_match import NATIONALITY
from iterative_rag.text.patterns import lazy_pattern

# Cells that deny a value, and the value that is answered for them.
NONE = frozenset({"none", "never married", "unmarried", "no", "nobody"})
NOTHING = "none"
_KIN = frozenset(stem(word) for word in KINSHIP)
_MUTUAL = frozenset(
    stem(word)
    for word in [
        "wife",
        "husband",
        "spouse",
        "brother",
        "sister",
        "sibling",
        "twin",
        "cousin",
        "partner",
        "rival",
        "friend",
    ]
)
SUBJECT_KINDS = frozenset({AnswerKind.PERSON, AnswerKind.PLACE, AnswerKind.THING, AnswerKind.NAME})
_ASKS_AFTER = lazy_pattern(r"\b(?:after|for|namesake|eponym|honou?r)\b", re.IGNORECASE)
_IS_ONE = lazy_pattern(r"\b(?:is|was) (?:an?|the|one)\b|\(born |\d{4}\)")
_PERSONAL = lazy_pattern(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b")


def subject_name(title: str) -> str:
    """A title without the bracket that disambiguates it."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


@lru_cache(maxsize=256)
def page_stems(page: UnitPage) -> frozenset[str]:
    """Stems of what the page is about: its title, first sentence and first infobox rows; "person" for a person."""
    first = next((unit.text for unit in page.units if not unit.cells), "")
    rows = " ".join(unit.cells[1] for unit in page.units[:3] if unit.infobox)
    kind = {"person"} if is_person(page) else set()
    return frozenset(content(f"{page.title} {first} {rows}")) | kind


@lru_cache(maxsize=256)
def is_person(page: UnitPage) -> bool:
    labels = {stem(word) for unit in page.units if unit.infobox for word in words(unit.cells[0])}
    if labels:
        return bool(labels & {"bear", "die", "spous", "born"}) and not labels & {"height", "length", "river", "populat"}
    return len(_PERSONAL.findall(page.text[:1500])) >= 2 and _IS_ONE.search(page.text[:400]) is not None


def may_be_subject(query: Query, page: UnitPage, about: frozenset[str]) -> bool:
    """Whether the page's subject can be the answer: it is of the asked kind and not named in the question."""
    title = set(content(subject_name(page.title)))
    if not title or query.kind not in SUBJECT_KINDS or page.title.lower().startswith("list of"):
        return False
    if title <= query.name_words | set(query.relation) or len(title & query.name_words) * 2 > len(title):
        return False
    if any(set(name) <= title or (query.kind is AnswerKind.PERSON and name[0] in title) for name in query.names):
        return False
    if (query.kind is AnswerKind.PLACE and is_person(page)) or query.asked[-1:] in {(NATIONALITY,), (stem("name"),)}:
        return False
    if query.kind in {AnswerKind.THING, AnswerKind.NAME} and is_person(page):
        return False
    if query.kind is AnswerKind.PERSON:
        # "First Lady of ..." is the article of the office, not of one who held it.
        return is_person(page) and not title & set(query.asked)
    return not query.asked or bool(alike(query.asked[-1]) & about)


# --- infobox ---------------------------------------------------------------------------------


def infobox_value(query: Query, page: UnitPage, unit: PageUnit) -> tuple[str, float] | None:
    """The value of an infobox row for a query and the trust in it (0 to 1); None where the row does not answer it."""
    label, cell = unit.cells[0], unit.cells[1]
    labels, inside = frozenset(content(label)), set(content(cell))
    direct = {*query.relation, *query.asked}
    loose = {synonym for word in direct for synonym in alike(word)}
    title = set(content(page.title))
    named = any(set(name) <= inside and not set(name) <= title for name in query.names)
    if _is_other_row(query, label, labels | inside):
        return None
    if query.name_words & title and labels & loose and not (named and len(query.names) == 1):
        trust = 1.0 if labels & direct else 0.92
        # A label with more words ("Height (with antennas)") is not quite what was asked.
        trust -= 0.06 * len(labels - loose)
        return _cell_value(query, cell, trust)
    if query.kind is AnswerKind.PERSON and query.name_words & title and set(query.relation) & inside and not named:
        # "President | Ann Lee (husband)" in the article of his wife.
        beside = re.search(r"^([^,;(]+) \((?:her |his )?[\w -]+\)", cell)
        if beside and set(content(beside[0])) & set(query.relation):
            return beside[1].strip(), 0.93
    dated = query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and not query.relation
    if dated and query.name_words & title and labels & TIME_LABELS:
        return _cell_value(query, cell, 0.9)
    if (renamed := present_name(query, page, unit.text)) is not None:
        return renamed
    return _subject_value(query, page, unit, loose, named=named)


def _is_other_row(query: Query, label: str, stems: frozenset[str]) -> bool:
    """Whether a row answers another question: of other kin, of persons where none is asked for, "named after"."""
    kin = {word for word in (*query.relation, *query.asked) if word in _KIN}
    if kin and not any(alike(word) & stems for word in kin):
        return True
    impersonal = query.kind not in {AnswerKind.PERSON, AnswerKind.THING, AnswerKind.NAME}
    if impersonal and _introduces_persons(label) and not query.unit:
        return True
    return bool(re.search(r"\bafter$", label, re.IGNORECASE)) and not _ASKS_AFTER.search(query.text)


def _subject_value(
    query: Query, page: UnitPage, unit: PageUnit, loose: set[str], *, named: bool
) -> tuple[str, float] | None:
    """The page's subject as the answer, where the row relates it to a name of the query; `named`: the cell holds it."""
    if not may_be_subject(query, page, page_stems(page)):
        return None
    labels = frozenset(content(unit.cells[0]))
    direct = {*query.relation, *query.asked}
    inverse = {other for word in direct for other in INVERSE.get(word, ())}
    # In the article of A, "Deputy | B" does not make A the deputy of B.
    if named and set(query.asked[-1:]) & labels and not set(query.asked[-1:]) & _MUTUAL:
        return None
    if labels & inverse and named:
        return subject_name(page.title), 0.95
    if labels & direct & inverse or (
        labels & loose and named and labels & {"preced", "succeed", "predecessor", "successor"}
    ):
        return None
    return None if lacks_kin(query, unit.text) else (subject_name(page.title), 0.9)


def _introduces_persons(label: str) -> bool:
    """Whether a label introduces persons ("Author", "Directed by"), never a place or a date."""
    last = label.lower().split()[-1:]
    return last in (["by"], ["starring"], ["cast"]) or any(
        word in ROLES or word.removesuffix("s") in ROLES for word in last
    )


def lacks_kin(query: Query, text: str) -> bool:
    """Whether the query asks for kin that the text does not mention, so that its subject cannot be the answer."""
    kin = query.asked[-1:] and query.asked[-1] in _KIN
    return bool(kin) and not alike(query.asked[-1]) & set(content(text))


def _cell_value(query: Query, cell: str, trust: float) -> tuple[str, float] | None:
    if cell.lower() in NONE:
        return NOTHING, trust
    cell = _select_item(query, cell)
    found = typed_spans.spans(cell, query.kind, query.unit, query.asked)
    if query.kind in SUBJECT_KINDS:
        found = [span for span in found if not set(content(span.value)) <= query.name_words] or found
    if query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and len(found) > 1:
        wanted = {synonym for word in query.relation if word not in _KIN for synonym in alike(word)}
        for span in found:
            before = content(cell[max(0, span.start - 20) : span.start])[-1:]
            if before and before[0] in wanted:
                return span.value, trust
        if set(query.relation) & _ENDS:
            return found[-1].value, trust
    if query.kind is AnswerKind.NUMBER and (years := listed_years(cell)):
        return str(years), trust
    if query.kind is AnswerKind.PLACE and found:
        return place_part(query, found[0].value), trust
    if query.kind in {AnswerKind.THING, AnswerKind.NAME} and cell:
        if any(start < 2 for _, start, _ in dates(cell[:20])):
            return None  # "what did she die of": neither date nor place answers it
        return re.sub(r"\s*\([^()]*\d[^()]*\)$", "", cell) or cell, trust
    if found:
        power = re.match(r"\s?[^\W\d]*[²³]", cell[found[0].end :]) if query.kind is AnswerKind.NUMBER else None
        return found[0].value + (power[0] if power else ""), trust
    return (cell, 0.7 * trust) if cell and query.kind in SUBJECT_KINDS else None


_ITEMS = lazy_pattern(r"[,;]\s+(?![^(]*\))")


def _select_item(query: Query, cell: str) -> str:
    """The item of a list ("Chemistry (1954), Peace (1962)") that the query's rank, year or other words select."""
    parts = [part.strip() for part in _ITEMS.split(cell)]
    if len(parts) < 2:
        return cell
    ranks = [rank for rank in query.ordinals if rank <= len(parts)]
    if len(ranks) == 1 and query.kind in {AnswerKind.PERSON, AnswerKind.THING, AnswerKind.NAME}:
        return re.sub(r"\s*\([^()]*\)$", "", parts[ranks[0] - 1])
    if not all("(" in part for part in parts):
        return cell
    words_of = {*query.relation, *query.asked, *query.name_words, *map(str, query.years)}
    hits = [len(words_of & set(content(part))) for part in parts]
    return parts[hits.index(max(hits))] if max(hits) and hits.count(max(hits)) == 1 else cell


# Words that ask for the end of a range of years ("1992–1996").
_ENDS = frozenset(stem(word) for word in ["completed", "finished", "ended", "opened", "closed"])
TIME_LABELS = frozenset(
    stem(word)
    for word in [
        "released",
        "release",
        "opened",
        "completed",
        "published",
        "premiere",
        "performance",
        "performed",
        "founded",
        "established",
    ]
)


def listed_years(cell: str) -> int:
    """Number of years in a cell that lists only years ("1992, 1995, 1996"); 0 otherwise."""
    parts = re.split(r",\s*|\s+and\s+|;\s*", re.sub(r"\([^)]*\)", "", cell).strip())
    return len(parts) if all(re.fullmatch(r"(?:1\d|20)\d{2}", part.strip()) for part in parts) else 0


def place_part(query: Query, value: str) -> str:
    """The part of "Lornfield, Westmark" that the query asks for: town, country or all of it."""
    parts = value.split(", ")
    if query.asked and query.asked[-1] in SMALLER and len(parts) > 1:
        # "City Theatre, Orm": the theatre is not the city.
        return parts[1] if set(words(parts[0])) & NOT_PERSON_WORDS else parts[0]
    return parts[-1] if query.asked and query.asked[-1] in LARGER else value


_NOW = lazy_pattern(
    r"\b(?:now|today|present-day|currently|today's)\s+(?:called\s+)?(?P<name>[A-ZÀ-ÞĀ-Ž][\w'’-]*(?: [A-Z][\w-]*)*)"
)
_ASKS_NOW = frozenset(stem(word) for word in ("present", "today", "current", "modern", "now"))


def present_name(query: Query, page: UnitPage, text: str) -> tuple[str, float] | None:
    """The new name in "Old Town, now New Town", where the query asks for the present name."""
    if not set(query.asked) & _ASKS_NOW or not query.name_words & names_in(text):
        return None
    match = _NOW.search(text)
    return (match["name"], 1.0) if match else None
