"""Which words of a sentence or an infobox row are the answer."""

from __future__ import annotations

import re
from functools import lru_cache

from iterative_rag.builtin import spans
from iterative_rag.builtin.lexicon import INVERSE, Kind, alike
from iterative_rag.builtin.matching import NATION, NATIONALITY
from iterative_rag.builtin.nouns import KINSHIP, LARGER
from iterative_rag.builtin.pages import Page, Unit
from iterative_rag.builtin.query import Query
from iterative_rag.builtin.words import IRREGULAR, STOPWORDS, content, names_in, stem, words

# What a row says where there is none, and what a reader answers then.
NONE = frozenset({"none", "never married", "unmarried", "no", "nobody"})
NOTHING = "none"
_KIN = frozenset(stem(word) for word in KINSHIP)
_SUBJECT_KINDS = frozenset({Kind.PERSON, Kind.PLACE, Kind.THING, Kind.NAME})
_PERSONAL = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b")


def subject_name(title: str) -> str:
    """A title without what tells it from its namesakes."""
    return re.sub(r"\s*\([^)]*\)$", "", title)


@lru_cache(maxsize=256)
def page_stems(page: Page) -> frozenset[str]:
    """Stems that say what the page is about: its title, first sentence and first infobox rows."""
    first = next((unit.text for unit in page.units if not unit.cells), "")
    rows = " ".join(unit.cells[1] for unit in page.units[:3] if unit.infobox)
    kind = {"person"} if is_person(page) else set()
    return frozenset(content(f"{page.title} {first} {rows}")) | kind


@lru_cache(maxsize=256)
def is_person(page: Page) -> bool:
    labels = {stem(word) for unit in page.units if unit.infobox for word in words(unit.cells[0])}
    if labels:
        return bool(labels & {"bear", "die", "spous", "born"}) and not labels & {"height", "length", "river", "populat"}
    return len(_PERSONAL.findall(page.text[:1500])) >= 2


def may_be_subject(query: Query, page: Page, about: frozenset[str]) -> bool:
    """Whether the page's subject can be what is asked for: of the asked kind, and not named in the question."""
    title = set(content(subject_name(page.title)))
    if not title or query.kind not in _SUBJECT_KINDS or page.title.lower().startswith("list of"):
        return False
    if title <= query.name_words | set(query.relation) or len(title & query.name_words) * 2 > len(title):
        return False
    if (query.kind is Kind.PLACE and is_person(page)) or query.asked[-1:] in {(NATIONALITY,), (stem("name"),)}:
        return False
    if query.kind in {Kind.THING, Kind.NAME} and query.asked and is_person(page):
        return False
    if query.kind is Kind.PERSON:
        # "First Lady of ..." is the article of the office, not of a holder.
        return is_person(page) and not title & set(query.asked)
    return not query.asked or bool(alike(query.asked[-1]) & about)


# --- infobox ---------------------------------------------------------------------------------


def infobox_value(query: Query, page: Page, unit: Unit) -> tuple[str, float] | None:
    label, cell = unit.cells[0], unit.cells[1]
    labels = frozenset(content(label))
    direct = {*query.relation, *query.asked}
    loose = {synonym for word in direct for synonym in alike(word)}
    title = set(content(page.title))
    inside = set(content(cell))
    named = any(set(name) <= inside for name in query.names)
    if query.name_words & title and labels & loose and not (named and len(query.names) == 1):
        trust = 1.0 if labels & direct else 0.92
        # A label with more to it ("Height (with antennas)") is not quite what was asked.
        trust -= 0.06 * len(labels - loose)
        return _cell_value(query, cell, trust)
    if query.kind is Kind.PERSON and query.name_words & title and set(query.relation) & inside and not named:
        # "President | Ann Lee (husband)" in the article of his wife.
        beside = re.search(r"^([^,;(]+) \((?:her |his )?[\w -]+\)", cell)
        if beside and set(content(beside[0])) & set(query.relation):
            return beside[1].strip(), 0.93
    if (
        query.kind in {Kind.YEAR, Kind.DATE}
        and not query.relation
        and query.name_words & title
        and labels & TIME_LABELS
    ):
        return _cell_value(query, cell, 0.9)
    if (renamed := _present_name(query, unit.text)) is not None:
        return renamed
    about = page_stems(page)
    if not may_be_subject(query, page, about):
        return None
    inverse = {other for word in direct for other in INVERSE.get(word, ())}
    if labels & inverse and named:
        return subject_name(page.title), 0.95
    if labels & direct & inverse or (
        labels & loose and named and labels & {"preced", "succeed", "predecessor", "successor"}
    ):
        return None
    return None if _no_kin(query, unit.text) else (subject_name(page.title), 0.9)


def _no_kin(query: Query, text: str) -> bool:
    """A mother is asked for, and the piece speaks of no mother: its subject is not the answer."""
    kin = query.asked[-1:] and query.asked[-1] in _KIN
    return bool(kin) and not alike(query.asked[-1]) & set(content(text))


def _cell_value(query: Query, cell: str, trust: float) -> tuple[str, float] | None:
    if cell.lower() in NONE:
        return NOTHING, trust
    found = spans.spans(cell, query.kind, query.unit, query.asked)
    if query.kind in _SUBJECT_KINDS:
        found = [span for span in found if not set(content(span.value)) <= query.name_words] or found
    if query.kind in {Kind.YEAR, Kind.DATE} and len(found) > 1 and set(query.relation) & _ENDS:
        return found[-1].value, trust
    if query.kind is Kind.NUMBER and (years := listed_years(cell)):
        return str(years), trust
    if query.kind is Kind.PLACE and found:
        return _place(query, found[0].value), trust
    if query.kind in {Kind.THING, Kind.NAME} and cell:
        return cell, trust
    if found:
        return found[0].value, trust
    return (cell, 0.7 * trust) if cell and query.kind in _SUBJECT_KINDS else None


# Of a span of years ("1992–1996") these ask for the end.
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
    """How many years a cell lists ("1992, 1995, 1996"), where it lists nothing else; 0 otherwise."""
    parts = re.split(r",\s*|\s+and\s+|;\s*", re.sub(r"\([^)]*\)", "", cell).strip())
    return len(parts) if all(re.fullmatch(r"(?:1\d|20)\d{2}", part.strip()) for part in parts) else 0


def _place(query: Query, value: str) -> str:
    """The part of "Lornfield, Westmark" that is asked for."""
    parts = value.split(", ")
    return parts[-1] if query.asked and query.asked[-1] in LARGER else value


# --- sentences -------------------------------------------------------------------------------

_SUBJECT = re.compile(r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir)\b")
_BREAK = re.compile(r"[;:]|, (?:and|but|while|whereas)\b|\.\s")


def sentence_value(query: Query, page: Page, unit: Unit, about: frozenset[str]) -> tuple[str, float] | None:
    text = unit.text
    if (renamed := _present_name(query, text)) is not None:
        return renamed
    if (life := life_dates(query, page, text)) is not None:
        return life
    if (nation := _nationality(query, page, text)) is not None:
        return nation
    anchors = _anchors(query, text)
    candidates = [
        (trust, span.value)
        for span in spans.spans(text, query.kind, query.unit, query.asked)
        if (trust := _trust(query, page, text, span, anchors)) > 0
    ]
    if may_be_subject(query, page, about) and not _no_kin(query, text):
        title = set(content(page.title))
        trust = 0.9 if _SUBJECT.search(text) or title & set(content(text[:80])) else 0.75
        # The page is of the asked kind: "which city ..." in the article of a city.
        fits = bool(query.asked) and bool(alike(query.asked[-1]) & about)
        trust *= 0.8 if query.kind is Kind.PERSON and query.asked and not fits else 1.0
        candidates.append((trust + 0.12 * fits, subject_name(page.title)))
    if not candidates:
        return None
    trust, value = max(candidates, key=lambda item: item[0])
    return (_place(query, value) if query.kind is Kind.PLACE else value), min(1.0, trust)


_LIFE = re.compile(r"^[^.(]{2,120}\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)?)\)")
_DASH = re.compile(r"\s*[–—]\s*|\s+-\s*|\s*-\s+|; died |, died ")
_BIRTH, _DEATH = stem("born"), stem("died")


def life_dates(query: Query, page: Page, text: str) -> tuple[str, float] | None:
    """Birth and death out of the brackets after a name: "Ann Lee (3 May 1801, Orm – 9 June 1866, Tell) was ..."."""
    wanted = _BIRTH if _BIRTH in query.relation else _DEATH if _DEATH in query.relation else ""
    if not wanted or query.kind not in {Kind.DATE, Kind.YEAR, Kind.PLACE}:
        return None
    title = set(content(subject_name(page.title)))
    match = _LIFE.match(text)
    if match is None or not title & set(content(text[:80])) or not title & query.name_words:
        return None
    halves = _DASH.split(match["inside"])
    dated = [half for half in halves if spans.spans(half, Kind.YEAR)]
    if not dated or (wanted == _DEATH and len(dated) < 2):
        return None
    half = dated[0] if wanted == _BIRTH else dated[-1]
    found = spans.spans(half, query.kind)
    return (_place(query, found[-1].value if query.kind is Kind.PLACE else found[0].value), 1.0) if found else None


_NOW = re.compile(
    r"\b(?:now|today|present-day|currently|today's)\s+(?:called\s+)?(?P<name>[A-ZÀ-ÞĀ-Ž][\w'’-]*(?: [A-Z][\w-]*)*)"
)
_ASKS_NOW = frozenset(stem(word) for word in ("present", "today", "current", "modern", "now"))


def _present_name(query: Query, text: str) -> tuple[str, float] | None:
    """ "Old Town, now New Town" where the present name is asked for."""
    if not set(query.asked) & _ASKS_NOW or not query.name_words & names_in(text):
        return None
    match = _NOW.search(text)
    return (match["name"], 1.0) if match else None


def _nationality(query: Query, page: Page, text: str) -> tuple[str, float] | None:
    """ "was a Norwegian painter" says the nationality where it is asked for."""
    if not query.asked or query.asked[-1] not in {NATIONALITY, stem("country")}:
        return None
    match = NATION.search(text)
    if match is None or not set(content(page.title)) & set(content(text[: match.start()])):
        return None
    return match["nation"], 0.95


def _trust(query: Query, page: Page, text: str, span: spans.Span, anchors: list[tuple[int, int]]) -> float:
    """How likely a candidate is the answer, by its place in the sentence; 0 for what cannot be."""
    known = query.name_words
    stems = set(content(span.value)) or set(words(span.value))
    if query.kind is not Kind.NUMBER and stems and stems <= known | set(query.relation):
        return 0.0
    trust = 0.85
    if query.kind in _SUBJECT_KINDS and span.start < 2 and " " not in span.value:
        trust *= _opener(page, span.value)
    if query.kind in _SUBJECT_KINDS:
        if not any(character.isalpha() for character in span.value) or span.value.endswith("-born"):
            return 0.0
        if (" " not in span.value or query.kind is Kind.PERSON) and _adjective(text, span):
            trust *= 0.5
        if query.kind is Kind.PERSON and _is_object(text, span, anchors) and not query.asked:
            trust *= 0.7
        if _by_agent(query, text, span):
            trust *= 1.25
        if query.kind is Kind.PLACE and query.asked and query.asked[-1] in LARGER and _last_of_list(text, span):
            trust *= 1.25
    if query.kind is Kind.NUMBER and re.match(r"(?:.*[ -])?[A-Z]|\s+[A-Z]", span.value + text[span.end : span.end + 2]):
        trust *= 0.6  # "28 Days Later": a title
    if query.kind is Kind.PLACE and not spans.led_by_place(text, span):
        trust *= 0.75
    if (
        query.kind is Kind.PERSON
        and spans.led_by_place(text, span)
        and not text[: span.start].endswith(("by ", "to ", "of "))
    ):
        trust *= 0.7
    if anchors:
        trust *= 1.0 - min(0.4, min(_gap(text, span, anchor) for anchor in anchors) / 200)
    if stems & known and query.kind in _SUBJECT_KINDS:
        trust *= 0.5 if any(set(name) <= stems for name in query.names) else 0.85
    if query.asked:
        lead = content(text[max(0, span.start - 40) : span.start])[-2:]
        if query.asked[-1] in lead or (query.asked[-1] in stems and query.kind in {Kind.PLACE, Kind.THING}):
            trust *= 1.2
    return trust


def _opener(page: Page, word: str) -> float:
    """How much a sentence's first word counts as a name: fully where the page writes it large elsewhere, too."""
    if word in page.title or re.search(rf"[\w,;|] {re.escape(word)}\b", page.text):
        return 1.0
    low = word.lower()
    plain = low in STOPWORDS or low.endswith(("ed", "ing", "ly")) or re.search(rf"\b{re.escape(low)}\b", page.text)
    return 0.0 if plain else 0.9


def _by_agent(query: Query, text: str, span: spans.Span) -> bool:
    """ "directed by X" where the director is asked for."""
    before = re.search(r"(\w+)(?: and \w+)? by (?:the )?(?:[a-z]+ ){0,2}$", text[max(0, span.start - 50) : span.start])
    if before is None or query.kind not in {Kind.PERSON, Kind.THING, Kind.NAME}:
        return False
    act = stem(before[1].lower())
    return any(act in alike(word) or word.startswith(act) for word in (*query.asked, *query.relation))


def _is_object(text: str, span: spans.Span, anchors: list[tuple[int, int]]) -> bool:
    """ "Ann Lee wrote X": what follows the verb, with no "by" between, was not the one who did it."""
    before = [end for _, end in anchors if end <= span.start]
    return (
        bool(before)
        and not any(start > span.end for start, _ in anchors)
        and " by " not in text[before[0] : span.start]
    )


def _last_of_list(text: str, span: spans.Span) -> bool:
    """ "... in Brell County, Westmark.": the largest place comes last."""
    return "," in text[max(0, span.start - 60) : span.end] and re.match(r"\s*(?:[.;)]|$)", text[span.end :]) is not None


def _adjective(text: str, span: spans.Span) -> bool:
    """ "Westmarkian physicist": one capital word before a plain noun."""
    after = re.match(r"\s+([a-z]+)", text[span.end : span.end + 30])
    return (
        after is not None
        and after[1] not in STOPWORDS
        and not after[1].endswith(("ed", "s"))
        and after[1] not in IRREGULAR
    )


def _anchors(query: Query, text: str) -> list[tuple[int, int]]:
    wanted = {synonym for word in (*query.relation, *query.asked) for synonym in alike(word)}
    return [match.span() for match in re.finditer(r"\w+", text) if stem(match[0].lower()) in wanted]


def _gap(text: str, span: spans.Span, anchor: tuple[int, int]) -> int:
    """Characters between a candidate and a word of the relation; a break of the clause counts as many."""
    start, end = (anchor[1], span.start) if anchor[1] <= span.start else (span.end, anchor[0])
    return max(0, end - start) + 40 * len(_BREAK.findall(text, start, max(start, end)))
