"""Reads set phrases of encyclopedias: life dates in brackets, nationality, occupation, present name, nickname."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content, stem
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading import typed_spans
from iterative_rag.builtin.reading.answer_words import place_part, present_name, subject_name
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.builtin.reading.passage_match import NATION, NATIONALITY, TRADE, TRADES
from iterative_rag.text.patterns import lazy_pattern


def set_form(query: Query, page: UnitPage, text: str) -> tuple[str, float] | None:
    """The value of a set phrase that answers the query and the trust in it (0 to 1); None if the sentence has none."""
    for form in (present_name, life_dates, _nationality, _occupation, _by_name):
        if (found := form(query, page, text)) is not None:
            return found
    return None


_LIFE = lazy_pattern(r"^[^.(]{2,120}\((?P<inside>[^()]*(?:\([^()]*\)[^()]*)?)\)")
_DASH = lazy_pattern(r"\s*[–—]\s*|\s+-\s*|\s*-\s+|; died |, died ")
_BIRTH, _DEATH = stem("born"), stem("died")


def life_dates(query: Query, page: UnitPage, text: str) -> tuple[str, float] | None:
    """Date or place of birth or death from brackets: "Ann Lee (3 May 1801, Orm – 9 June 1866, Tell) was ..."."""
    wanted = _BIRTH if _BIRTH in query.relation else _DEATH if _DEATH in query.relation else ""
    if not wanted or query.kind not in {AnswerKind.DATE, AnswerKind.YEAR, AnswerKind.PLACE}:
        return None
    title = set(content(subject_name(page.title)))
    match = _LIFE.match(text)
    if match is None or not title & set(content(text[:80])) or not title & query.name_words:
        return None
    halves = _DASH.split(match["inside"])
    dated = [half for half in halves if typed_spans.spans(half, AnswerKind.YEAR)]
    if not dated or (wanted == _DEATH and len(dated) < 2):
        return None
    half = dated[0] if wanted == _BIRTH else dated[-1]
    found = typed_spans.spans(half, query.kind)
    return (
        (place_part(query, found[-1].value if query.kind is AnswerKind.PLACE else found[0].value), 1.0)
        if found
        else None
    )


def _nationality(query: Query, page: UnitPage, text: str) -> tuple[str, float] | None:
    """The nationality from "was a Norwegian painter", if the query asks for it."""
    if not query.asked or query.asked[-1] not in {NATIONALITY, stem("country")}:
        return None
    match = NATION.search(text)
    if match is None or not set(content(page.title)) & set(content(text[: match.start()])):
        return None
    return match["nation"], 0.95


def _occupation(query: Query, page: UnitPage, text: str) -> tuple[str, float] | None:
    """The occupations from "was a Westmarkian painter, poet and critic", if the query asks for them."""
    if not query.asked or query.asked[-1] not in TRADES or not set(content(page.title)) & set(content(text[:120])):
        return None
    match = TRADE.search(text)
    return (match["list"], 0.95) if match else None


_BY_NAMES = frozenset(stem(word) for word in ["nickname", "nicknamed", "epithet", "alias", "pseudonym", "moniker"])
_BY_NAME = lazy_pattern(
    r"\b(?:nicknamed|known (?:\w+ )?as|called|dubbed|the (?:name|nickname|title)(?: of)?|under the name(?: of)?),? "
    r"(?:the )?[\"“*]*(?P<name>[A-Z][\w'’.-]*(?: (?:of |the )*[A-Z][\w'’-]*)*)"
)


def _by_name(query: Query, page: UnitPage, text: str) -> tuple[str, float] | None:
    """The nickname from "known as the Iron Hand", if the query asks for one."""
    if not _BY_NAMES & {*query.asked, *query.relation}:
        return None
    match = _BY_NAME.search(text)
    return (match["name"].rstrip("."), 0.95) if match else None
