"""Extracts the candidates of a sentence, each with the features that `candidate_ranking` weighs."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass

from iterative_rag.builtin.language.function_words import IRREGULAR, STOPWORDS, content, fold, ordinal, stem, words
from iterative_rag.builtin.language.lexicon import AnswerKind, alike
from iterative_rag.builtin.language.nouns import LARGER
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading import typed_spans
from iterative_rag.builtin.reading.answer_words import (
    SUBJECT_KINDS,
    lacks_kin,
    may_be_subject,
    page_stems,
    place_part,
    subject_name,
)
from iterative_rag.builtin.reading.page_units import UnitPage
from iterative_rag.builtin.reading.passage_match import Match
from iterative_rag.builtin.reading.set_phrases import set_form
from iterative_rag.text.patterns import lazy_pattern

_SUBJECT = lazy_pattern(r"\b(?:[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir)\b")
_OBJECT = lazy_pattern(r"\b[a-z]+(?:ed|t|d|n) (?:it|him|them)\b")
_BREAK = lazy_pattern(r"[;:]|, (?:and|but|while|whereas)\b|\.\s")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible answer; `features` by name, for the ranking."""

    value: str
    features: dict[str, float]


def candidates(query: Query, page: UnitPage, match: Match, meaning: float, first: bool) -> list[Candidate]:
    """The candidates of a sentence: spans of the asked kind, the page's subject, and the value of a set phrase.

    `meaning` is the similarity of sentence and query (0 to 1); `first` marks the first sentence of the page.
    """
    text = match.unit.text
    anchors = _anchors(query, text)
    shared = _sentence_features(query, page, match, meaning, first, anchors)
    found = []
    if (form := set_form(query, page, text)) is not None:
        found.append(Candidate(form[0], {**shared, "form": 1.0, "form_rule": form[1] * match.score}))
    offered = typed_spans.spans(text, query.kind, query.unit, query.asked)
    if query.kind is AnswerKind.THING and query.asked[-1:] != ("scor",):
        taken = [(span.start, span.end) for span in offered]
        offered += [
            span
            for span in typed_spans.noun_phrases(text)
            if not any(a <= span.start < b or a < span.end <= b for a, b in taken)
        ]
    known = {*query.name_words, *query.relation, *query.asked}
    names = [at.span() for at in re.finditer(r"\w+", text) if stem(fold(at[0])) in query.name_words]
    for span in offered:
        trust = _trust(query, page, text, span, anchors)
        if trust <= 0:
            continue
        own = _span_features(query, text, span, anchors, names, known, len(offered))
        value = place_part(query, span.value) if query.kind is AnswerKind.PLACE else span.value
        own["adjective"] = float(_is_adjective(text, span))
        found.append(Candidate(value, {**shared, **own, "trust": trust, "rule": trust * match.score}))
    about = page_stems(page)
    if may_be_subject(query, page, about) and not lacks_kin(query, text) and not _is_titled(query, text):
        title = set(content(page.title))
        fits = bool(query.asked) and bool(alike(query.asked[-1]) & about)
        spoken = bool(_SUBJECT.search(text)) or bool(title & set(content(text[:80])))
        # "Which bridge was swept away": the sentence names another bridge than the page's subject.
        others = [set(content(span.value)) for span in offered]
        rival = bool(query.asked) and any(query.asked[-1] in stems and stems - title for stems in others)
        own = {"title": 1.0, "title_rival": float(rival), "title_fits": float(fits), "title_spoken": float(spoken)}
        own[f"title_{query.kind.name}"] = 1.0
        # "Puritans founded it": the object pronoun refers to the page's subject.
        own["title_object"] = float(fits and _OBJECT.search(text) is not None)
        own["title_rule"] = match.score * (0.9 if spoken else 0.75)
        own["title_unfit"] = float(bool(query.asked) and not fits)
        found.append(Candidate(subject_name(page.title), {**shared, **own}))
    return found


def _is_titled(query: Query, text: str) -> bool:
    """Whether the asked noun is a title of a name in the query ("Deputy Ann Lee took over"), not of the subject."""
    stems = content(text)
    return bool(query.asked and query.names) and any(
        one == query.asked[-1] and two == name[0] for one, two in itertools.pairwise(stems) for name in query.names
    )


def _sentence_features(
    query: Query, page: UnitPage, match: Match, meaning: float, first: bool, anchors: list[tuple[int, int]]
) -> dict[str, float]:
    title = set(content(subject_name(page.title)))
    own, asked_of = set(content(match.unit.text)), query.name_words
    opening = next((span for span in typed_spans.names(match.unit.text[:90]) if span.start < 60), None)
    subject = set(content(opening.value)) if opening else set()
    return {
        "bias": 1.0,
        "names_here": len(asked_of & own) / max(1, len(asked_of)),
        "names_missing": len(asked_of - own - title) / max(1, len(asked_of)),
        # Whom the sentence is about: a name of the query, the page's subject, or someone else.
        "subject_asked": float(bool(subject & asked_of)),
        "subject_title": float(bool(subject & title)),
        "subject_other": float(bool(subject) and not subject & (asked_of | title)),
        "pronoun_asked": float(_SUBJECT.match(match.unit.text) is not None and title <= asked_of),
        "years_missing": float(bool(query.years) and not any(str(y) in match.unit.text for y in query.years)),
        "rank_missing": float(
            bool(query.ordinals) and not any(ordinal(word) in query.ordinals for word in words(match.unit.text))
        ),
        "match": match.score,
        "meaning": meaning,
        "relation": match.relation,
        "no_relation": float(not query.relation),
        "names": match.names,
        "weakest": match.weakest_name,
        "no_names": float(not query.names),
        "about": len(title & query.name_words) / max(1, len(title)),
        "first": float(first),
        "no_anchor": float(not anchors),
        f"kind_{query.kind.name}": 1.0,
    }


_LEAD = lazy_pattern(r"(\w+)\W+(?:(?:the|a|an|his|her|its|their)\s+)?[\"“*]?$")
_LEADS = {
    "by": "by",
    "in": "in",
    "at": "in",
    "near": "in",
    "from": "from",
    "of": "of",
    "to": "to",
    "into": "to",
    "for": "for",
    "as": "as",
    "called": "as",
    "named": "as",
    "with": "with",
    "on": "on",
    "since": "on",
    "is": "is",
    "was": "is",
    "are": "is",
    "were": "is",
    "and": "and",
    "or": "and",
    "than": "than",
    "born": "born",
}


def _span_features(
    query: Query,
    text: str,
    span: typed_spans.TypedSpan,
    anchors: list[tuple[int, int]],
    names: list[tuple[int, int]],
    known: set[str],
    rivals: int,
) -> dict[str, float]:
    stems = content(span.value)
    lead = _LEAD.search(text[max(0, span.start - 40) : span.start])
    word = lead[1].lower() if lead else ""
    around = content(text[max(0, span.start - 30) : span.start])[-2:] + content(text[span.end : span.end + 30])[:2]
    count = len(span.value.split())
    small = span.value[:1].islower()
    gap = min((_distance(text, span, at) for at in anchors), default=200)
    away = min((_distance(text, span, at) for at in names), default=200)
    features = {
        "near": math.exp(-gap / 25) if anchors else 0.0,
        "near_name": math.exp(-away / 40),
        "after_anchor": float(any(end <= span.start for _, end in anchors)),
        "known": len(known & set(stems)) / max(1, len(stems)),
        "asked_near": float(bool(query.asked) and query.asked[-1] in around),
        "asked_in": float(bool(query.asked) and query.asked[-1] in stems),
        "single": float(count == 1),
        "long": float(count > 4),
        "small": float(small),
        "opens": float(span.start < 3),
        "brackets": float(text.count("(", 0, span.start) > text.count(")", 0, span.start)),
        "alone": 1.0 / max(1, rivals),
        f"lead_{query.kind.name}_{_LEADS.get(word, 'other')}": 1.0,
    }
    if word and any(stem(word) in alike(other) for other in (*query.relation, *query.asked)):
        features["lead_anchor"] = 1.0
    if query.kind is AnswerKind.NUMBER:
        features["measured"] = float(count > 1 and query.unit == "")
    if small:
        features["small_asked"] = float(bool(query.asked))
    return features


def _trust(
    query: Query, page: UnitPage, text: str, span: typed_spans.TypedSpan, anchors: list[tuple[int, int]]
) -> float:
    """Heuristic trust in a candidate from its position in the sentence; 0 if it cannot be the answer."""
    known = query.name_words
    stems = set(content(span.value)) or set(words(span.value))
    if query.kind is not AnswerKind.NUMBER and stems and stems <= known | set(query.relation):
        return 0.0
    trust = 0.85
    if query.kind in SUBJECT_KINDS and span.start < 2 and " " not in span.value:
        trust *= _opener_weight(page, span.value)
    if query.kind in SUBJECT_KINDS:
        if not any(character.isalpha() for character in span.value) or span.value.endswith("-born"):
            return 0.0
        if (" " not in span.value or query.kind is AnswerKind.PERSON) and _is_adjective(text, span):
            trust *= 0.0 if query.kind is AnswerKind.PERSON and " " not in span.value else 0.5
        if query.kind is AnswerKind.PERSON and _is_object(text, span, anchors) and not query.asked:
            trust *= 0.7
        if _is_agent(query, text, span):
            trust *= 1.25
        if query.kind is AnswerKind.PLACE and query.asked and query.asked[-1] in LARGER and _ends_list(text, span):
            trust *= 1.25
    if query.kind is AnswerKind.NUMBER and re.match(
        r"(?:.*[ -])?[A-Z]|\s+[A-Z]", span.value + text[span.end : span.end + 2]
    ):
        trust *= 0.6  # "28 Days Later": part of a title
    if query.kind is AnswerKind.PLACE and not typed_spans.led_by_place(text, span):
        trust *= 0.75
    if (
        query.kind is AnswerKind.PERSON
        and typed_spans.led_by_place(text, span)
        and not text[: span.start].endswith(("by ", "to ", "of "))
    ):
        trust *= 0.7
    if anchors:
        trust *= 1.0 - min(0.4, min(_distance(text, span, anchor) for anchor in anchors) / 200)
    if stems & known and query.kind in SUBJECT_KINDS:
        trust *= 0.5 if any(set(name) <= stems for name in query.names) else 0.85
    if query.asked:
        lead = content(text[max(0, span.start - 40) : span.start])[-2:]
        if query.asked[-1] in lead or (query.asked[-1] in stems and query.kind in {AnswerKind.PLACE, AnswerKind.THING}):
            trust *= 1.2
    return trust


def _opener_weight(page: UnitPage, word: str) -> float:
    """Weight of a sentence's first word as a name: 1 if the page capitalizes it elsewhere too, 0 for a common word."""
    if word in page.title or re.search(rf"[\w,;|] {re.escape(word)}\b", page.text):
        return 1.0
    low = word.lower()
    plain = low in STOPWORDS or low.endswith(("ed", "ing", "ly")) or re.search(rf"\b{re.escape(low)}\b", page.text)
    return 0.0 if plain else 0.9


def _is_agent(query: Query, text: str, span: typed_spans.TypedSpan) -> bool:
    """Whether the span is the agent of the asked relation: "directed by X" where the director is asked for."""
    before = re.search(r"(\w+)(?: and \w+)? by (?:the )?(?:[a-z]+ ){0,2}$", text[max(0, span.start - 50) : span.start])
    if before is None or query.kind not in {AnswerKind.PERSON, AnswerKind.THING, AnswerKind.NAME}:
        return False
    act = stem(before[1].lower())
    return any(act in alike(word) or word.startswith(act) for word in (*query.asked, *query.relation))


def _is_object(text: str, span: typed_spans.TypedSpan, anchors: list[tuple[int, int]]) -> bool:
    """Whether the span is the object of the relation ("Ann Lee wrote X"): it follows the verb without "by"."""
    before = [end for _, end in anchors if end <= span.start]
    return (
        bool(before)
        and not any(start > span.end for start, _ in anchors)
        and " by " not in text[before[0] : span.start]
    )


def _ends_list(text: str, span: typed_spans.TypedSpan) -> bool:
    """Whether the span ends a list of places, where the largest stands: "... in Brell County, Westmark."."""
    return "," in text[max(0, span.start - 60) : span.end] and re.match(r"\s*(?:[.;)]|$)", text[span.end :]) is not None


def _is_adjective(text: str, span: typed_spans.TypedSpan) -> bool:
    """Whether the span is an adjective before a common noun: "Westmarkian physicist"."""
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


def _distance(text: str, span: typed_spans.TypedSpan, anchor: tuple[int, int]) -> int:
    """Distance in characters between a candidate and a relation word; every clause break adds 40."""
    start, end = (anchor[1], span.start) if anchor[1] <= span.start else (span.end, anchor[0])
    return max(0, end - start) + 40 * len(_BREAK.findall(text, start, max(start, end)))
