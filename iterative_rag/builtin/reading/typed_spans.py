"""Extracts the spans of a text that have the expected kind of answer."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import IRREGULAR, MONTHS, STOPWORDS, fold, word_set, words
from iterative_rag.builtin.language.lexicon import AnswerKind
from iterative_rag.builtin.language.nouns import NOT_PERSON_WORDS
from iterative_rag.builtin.language.text_values import amounts, dates, periods
from iterative_rag.text import units
from iterative_rag.text.dates import WEEKDAYS, written_year
from iterative_rag.text.patterns import lazy_pattern

_JOINERS = "of|the|de|da|do|dos|von|van|der|den|di|du|la|le|el|al|bin|ibn|and|&|y|zu"
_CAPITAL = r"[A-ZÀ-ÞĀ-ŽА-Я][\w'’.&-]*"
_NAME = lazy_pattern(
    rf"(?:[\"“*](?P<title>[^\"”*\n]{{2,80}})[\"”*])"
    rf"|(?:(?<![\w])(?P<name>{_CAPITAL}(?:\s+(?:(?:{_JOINERS})\s+(?:(?:{_JOINERS})\s+)?)?{_CAPITAL})*(?:\s+(?:[IVX]+|\d{{1,3}})(?=\W|$))?))"
)
_HONORIFICS = word_set(
    "president king queen captain sir dr mr mrs lord lady general prince princess emperor saint professor rear "
    "admiral senator governor vice"
)
_ARTICLES = word_set("La Le Il Les Los Las El Lo Der Die Das")
_PLACE_LEAD = lazy_pattern(
    r"\b(?:in|at|near|from|to|of|into|on|by|through|outside|around)\s+(?:the\s+)?(?:[a-z-]+\s+){0,3}$"
)
_DEMONYM = lazy_pattern(r"[A-Z][a-z]+(?:an|ish|ese|man|woman|ard|ch|wede|ane|ole|urk) ")
_NOT_NAMES = STOPWORDS | frozenset(MONTHS) | frozenset(map(str.lower, WEEKDAYS))


@dataclass(frozen=True, slots=True)
class TypedSpan:
    value: str
    start: int
    end: int


def names(text: str) -> list[TypedSpan]:
    """Names and titles, without a first word that is capitalized only because it opens the sentence."""
    found = []
    for match in _NAME.finditer(text):
        if title := match["title"]:
            if title[0].islower() and text[match.start()] == "*":
                continue  # emphasis, not a title
            found.append(TypedSpan(title.strip(" ,."), match.start("title"), match.end("title")))
            continue
        value, start = match["name"], match.start("name")
        value = (
            re.sub(r"['’]s?$", "", value).rstrip(".,-&'’") if not re.search(r"\b(?:Jr|Sr|[A-Z])\.$", value) else value
        )
        # A sentence's first word is capitalized in any case.
        first = value.split()[0]
        if fold(first) in _NOT_NAMES:
            rest = value[len(first) :].lstrip()
            rest = re.sub(rf"^(?:(?:{_JOINERS})\s+)+", "", rest)
            if not rest or not rest[0].isupper():
                continue
            start += len(value) - len(rest)
            value = rest
        end = start + len(value)
        if value in _ARTICLES and (more := re.match(r"\s[^\W\d_]+", text[end : end + 30])):
            end += more.end()  # "La traviata": a title with a lower-case noun
            value = text[start:end]
        found.append(TypedSpan(value, start, end))
    return found


def persons(text: str) -> list[TypedSpan]:
    """Names of persons, without honorifics and offices before them."""
    found = []
    for span in names(text):
        if set(words(span.value)) & NOT_PERSON_WORDS:
            continue
        value, start = span.value, span.start
        while " " in value and fold(value.split()[0]).strip(".") in _HONORIFICS:
            first = value.split()[0]
            start += len(first) + 1
            value = value[len(first) :].lstrip()
        # "the German Ann Lee": drop the demonym.
        if value.count(" ") > 1 and text[:start].endswith(("the ", "The ")) and _DEMONYM.match(value):
            first = value.split()[0]
            start += len(first) + 1
            value = value[len(first) + 1 :]
        if not any(character.isdigit() for character in value) and not set(words(value)) & set(MONTHS):
            found.append(TypedSpan(value, start, start + len(value)))
    return found


def places(text: str) -> list[TypedSpan]:
    """Names that may be places, each with the larger places after its commas ("Lornfield, Westmark")."""
    found = []
    for span in names(text):
        if set(words(span.value)) & set(MONTHS) and not re.search(r"[A-Z]\w+ [A-Z]", span.value):
            continue
        end = span.end
        while more := re.match(
            rf",\s+({_CAPITAL}(?:\s+(?:of\s+)?{_CAPITAL})*)(?=\s*[,.;)|]|\s+[a-z(]|\s*$)", text[end : end + 80]
        ):
            if set(words(more[1])) & set(MONTHS):
                break
            end += more.end()
        found.append(TypedSpan(text[span.start : end].rstrip("."), span.start, end))
    return found


def led_by_place(text: str, span: TypedSpan) -> bool:
    return _PLACE_LEAD.search(text[max(0, span.start - 60) : span.start]) is not None


def spans(text: str, kind: AnswerKind, unit: str = "", asked: tuple[str, ...] = ()) -> list[TypedSpan]:
    """Spans of a kind, left to right. `unit` is the unit or noun counted; `asked` the stems of the asked noun.

    A need for a score or result gives scores such as "3–1".
    """
    if asked and asked[-1] in {"scor", "result"} and kind is AnswerKind.THING:
        return [
            TypedSpan(match[0], match.start(), match.end()) for match in re.finditer(r"\b\d{1,3}[–:-]\d{1,3}\b", text)
        ]
    match kind:
        case AnswerKind.YEAR:
            if asked[-1:] in {("century",), ("decad",)}:
                return [TypedSpan(text[a:b], a, b) for a, b in periods(text)]
            return [TypedSpan(written_year(date.year), a, b) for date, a, b in dates(text)]
        case AnswerKind.DATE:
            return [TypedSpan(text[a:b], a, b) for a, b in (*((a, b) for _, a, b in dates(text)), *periods(text))]
        case AnswerKind.NUMBER:
            return _numbers(text, unit)
        case AnswerKind.PERSON:
            return persons(text)
        case AnswerKind.PLACE:
            return places(text)
        case _:
            return [_with_year(text, span) for span in names(text)]


def _with_year(text: str, span: TypedSpan) -> TypedSpan:
    """Extend a name by the year before it: "the 1936 Games"."""
    year = re.search(r"\bthe ((?:1\d|20)\d{2} )$", text[max(0, span.start - 9) : span.start])
    return TypedSpan(year[1] + span.value, span.start - len(year[1]), span.end) if year else span


def _numbers(text: str, unit: str) -> list[TypedSpan]:
    """Numbers outside dates; if a unit of measure is asked for, only those of its dimension, exact units first."""
    taken = [(a, b) for _, a, b in dates(text)]
    found = [
        (amount, TypedSpan(text[a:b], a, b))
        for amount, a, b in amounts(text)
        if not any(start <= a < end for start, end in taken)
    ]
    if wanted := units.unit_of(unit):
        alike = [pair for pair in found if units.dimension(pair[0].unit) == units.dimension(wanted)]
        return [span for _, span in sorted(alike, key=lambda pair: pair[0].unit != wanted)]
    if unit:
        # "398 feet" is not a number of cars.
        found = [(amount, span) for amount, span in found if not amount.unit]
        beside = [span for amount, span in found if amount.counted and amount.counted[0][:4] == unit[:4]]
        return beside or [span for _, span in found]
    return [span for _, span in found]


_WORD = lazy_pattern(r"[^\W_]+(?:['’.-][^\W_]+)*")
_OF = lazy_pattern(r"\s+of\s+(?:the\s+)?")
LONGEST_PHRASE = 5
_YEAR = lazy_pattern(r"(?:1\d|20)\d\d\b")


def noun_phrases(text: str) -> list[TypedSpan]:
    """Runs of content words between function words, verbs and commas, and pairs of runs joined by "of"."""
    runs: list[TypedSpan] = []
    start = end = count = 0

    def close() -> None:
        nonlocal count
        plain = count == 1 and text[start:end].endswith(("ed", "ing"))
        if 0 < count <= LONGEST_PHRASE and end - start > 2 and not plain and not _YEAR.match(text, start):
            runs.append(TypedSpan(text[start:end], start, end))
        count = 0

    for match in _WORD.finditer(text):
        low = match[0].lower()
        if count and text[end : match.start()] not in {" ", " “", ' "', "-"}:
            close()
        if low in STOPWORDS or low in IRREGULAR or low.endswith("ly") or (count and low.endswith("ed")):
            close()
            continue
        if not count:
            start = match.start()
        end, count = match.end(), count + 1
    close()
    joined = [
        TypedSpan(text[one.start : two.end], one.start, two.end)
        for one, two in itertools.pairwise(runs)
        if _OF.fullmatch(text[one.end : two.start])
    ]
    return [*runs, *joined]
