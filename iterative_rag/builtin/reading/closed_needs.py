"""Decides closed needs ("Is X a film director?") on the page about their subject.

The claim of the need (nationality, class, place, time, other words) is compared with the page's sentences and infobox
rows. "No" is answered only on the subject's own page and with less trust, since an article does not mention everything
that is true.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.builtin.language.function_words import AUXILIARIES, STOPWORDS, content, fold, stem, word_set, words
from iterative_rag.builtin.language.hypernyms import counts_as
from iterative_rag.builtin.language.lexicon import AnswerKind, alike
from iterative_rag.builtin.language.nations import nations_in, wholes, within
from iterative_rag.builtin.language.text_values import years
from iterative_rag.builtin.language.tokens import Token, tokenize
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.findings import Finding, trust
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.text.patterns import lazy_pattern

# Number of leading sentences, which define the subject; most tokens that a subject may have.
LEADING, LONGEST_SUBJECT = 2, 16
# Confidence that a page is about the subject: same title, same but for a middle name, a name in the lead; the last is a
# factor for a title with an unmatched bracket.
TITLED, NEARLY, ALSO_CALLED, OTHER_BRACKET = 1.0, 0.9, 0.85, 0.9
# Weight of a point of the claim found in a leading sentence, elsewhere on the page, or by a related word.
BESIDE, ELSEWHERE, RELATED = 0.8, 0.55, 0.9
FURTHER_DOWN = 0.6
# Share of the claim's weight from which it holds; confidence in a description; bounds of the confidence in yes and no.
HOLDS, DESCRIBED = 0.62, 0.9
YES_LEAST, NO_MOST, NO_LEAST = 0.6, 0.72, 0.45
# Words of a claim that a text need not repeat.
_HOLLOW = frozenset(
    stem(word)
    for word in word_set(
        "same only particular also still today currently actually popular famous known certain various different "
        "type kind sort example real called named considered universally especially particularly"
    )
) - {stem("known"), stem("popular"), stem("famous")}


@dataclass(frozen=True, slots=True)
class ClosedClaim:
    """What a need claims about its subject, in stems. `years` is inclusive; 0 and 9999 stand for an open side.

    `alive` claims that the subject lived then; `plain_class` that it belongs to a class ("a film director").
    """

    nations: tuple[str, ...]
    names: tuple[str, ...]
    points: tuple[str, ...]
    years: tuple[int, int] | None
    alive: bool
    plain_class: bool


def decide(query: Query, page: UnitPage) -> list[Finding] | None:
    """Answer a closed need, or one for a description, from a page; None for every other need and page."""
    if query.kind is AnswerKind.YES_NO:
        found = verify(query, page)
        return [found] if found else []
    told = describe(query, page)
    return [told] if told else None


def _finding(value: str, quote: str, chance: float) -> Finding:
    return Finding(value, quote, trust(chance), quote)


def verify(query: Query, page: UnitPage) -> Finding | None:
    """Answer a closed need by yes or no; None if the page is not about its subject."""
    found = _subject(query, page)
    if found is None:
        return None
    predicate, about = found
    claim = claim_of(predicate)
    units = [unit for unit in page.units if not unit.header or unit.infobox]
    if not units or not (claim.points or claim.names or claim.nations or claim.years or claim.alive):
        return None
    lead = [unit for unit in units if not unit.cells][:LEADING] or units[:1]
    if claim.alive:
        return _alive(claim, lead, about)
    against = _contradiction(claim, lead)
    if against is not None:
        return _finding("no", against.text, about * NO_MOST)
    share, best = _best(claim, units, lead)
    if share >= HOLDS:
        return _finding("yes", best.text, about * (YES_LEAST + (0.95 - YES_LEAST) * (share - HOLDS) / (1 - HOLDS)))
    return _finding("no", lead[0].text, about * (NO_LEAST + (NO_MOST - NO_LEAST) * (HOLDS - share) / HOLDS))


# --- the subject -----------------------------------------------------------------------------

_BRACKET = lazy_pattern(r"\s*\(([^)]*)\)$")


def _subject(query: Query, page: UnitPage) -> tuple[str, float] | None:
    """The predicate of a closed need and the confidence (0 to 1) that this page is about its subject."""
    tokens = tokenize(query.text.rstrip("?"))
    if len(tokens) < 3 or tokens[0].low not in AUXILIARIES:
        return None
    start = 1
    # "Is the director Ann Lee ...": a class noun may stand before the name.
    kind = start
    while kind < len(tokens) - 1 and not tokens[kind].capital and kind < start + 5:
        kind += 1
    title, bracket = _BRACKET.sub("", page.title), _BRACKET.search(page.title)
    first = next((unit.text for unit in page.units if not unit.cells), "")
    for begin in dict.fromkeys((start, kind)):
        for end in range(min(len(tokens) - 1, begin + LONGEST_SUBJECT), begin, -1):
            name = query.text[tokens[begin].start : tokens[end - 1].end].strip(' ,"“”')
            cut = end < len(tokens) and tokens[end].capital and not nations_in(tokens[end].text)
            sure = 0.0 if cut and content(name) != content(title) else _named(name, title, first)
            if sure and tokens[end - 1].low not in STOPWORDS:
                predicate = query.text[tokens[end - 1].end :].strip(" ,?")
                before = content(query.text[: tokens[begin].start])
                if bracket and not set(content(bracket[1])) & {*before, *content(predicate)}:
                    sure *= OTHER_BRACKET if not _clashes(before, bracket[1]) else OTHER_BRACKET**2
                return predicate, sure
    return None


def _named(name: str, title: str, first: str) -> float:
    """Confidence that a page with this title and first sentence is about `name`; 0 if it is not."""
    said, own = content(name), content(title)
    if not said or not own:
        return 0.0
    if said == own:
        return TITLED
    if fold(name) == fold(title):
        return TITLED
    inner = set(said) < set(own) or set(own) < set(said)
    if inner and len(said) > 1 and len(own) > 1 and said[0] == own[0] and said[-1] == own[-1]:
        return NEARLY
    if said == own[: len(said)]:
        return 0.0  # "Orm Tower" is not "Orm"
    head = first[: max(160, first.find(" is "), first.find(" was "))]
    match = re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", fold(head)) if len(name) > 3 else None
    if match is None:
        return 0.0
    # "Ann Lee's Dawn is ..." is about Dawn: a name counts only at the start or after "known as".
    return ALSO_CALLED if match.start() <= 4 or _CALLED.search(fold(head)[: match.start()]) else 0.0


_CALLED = lazy_pattern(r"(?:known as|called|title:?|titled|aka|or|formerly|nicknamed|name)\W*$", re.I)


def _clashes(before: list[str], bracket: str) -> bool:
    """Whether the need names another class ("the magazine X") than the title's bracket ("X (film)")."""
    return bool(before) and not any(set(content(bracket)) & counts_as(word) for word in before)


# --- the claim -------------------------------------------------------------------------------

_DECADE = lazy_pattern(r"\b(?:the )?(?:(early|mid|late)[- ])?(?:(1[5-9]|20)?(\d)0)['’]?s\b")
_RANGE = lazy_pattern(r"\b(?:between|from) (\d{4}) (?:and|to|until) (\d{4})\b")
_BEFORE, _AFTER, _YEAR = (
    lazy_pattern(r"\b(?:before|prior to|until|by) (\d{4})\b"),
    lazy_pattern(r"\b(?:after|since) (\d{4})\b"),
    lazy_pattern(r"\b(\d{4})\b"),
)
_ALIVE = lazy_pattern(r"\b(?:alive|living|live)\b")


@lru_cache(maxsize=256)
def claim_of(predicate: str) -> ClosedClaim:
    years, rest = _years(predicate)
    nations = nations_in(rest)
    names, points = [], []
    for token in tokenize(rest):
        if not token.word or token.low in STOPWORDS or nations_in(token.text):
            continue
        stems = [stem(word) for word in words(token.text) if word not in STOPWORDS]
        if token.capital and not token.text[0].isdigit():
            names += [] if _in_nation(token, rest) else stems
        else:
            points += [word for word in stems if word not in _HOLLOW]
    alive = bool(_ALIVE.search(rest))
    plain = bool(re.match(r"(?:also )?an? ", predicate)) and not names and not years and len(points) < 3
    return ClosedClaim(nations, tuple(dict.fromkeys(names)), tuple(dict.fromkeys(points)), years, alive, plain)


def _in_nation(token: Token, text: str) -> bool:
    """Whether a word is part of a longer country name ("United" of "United States")."""
    around = text[max(0, token.start - 16) : token.end + 16]
    return any(fold(token.text) in nation.split("_") for nation in nations_in(around))


def _years(text: str) -> tuple[tuple[int, int] | None, str]:
    if match := _RANGE.search(text):
        years = (int(match[1]), int(match[2]))
    elif match := _DECADE.search(text):
        begin = int(f"{match[2] or '19'}{match[3]}0")
        years = (begin, begin + 9)
    elif match := _BEFORE.search(text):
        years = (0, int(match[1]) - 1)
    elif match := _AFTER.search(text):
        years = (int(match[1]), 9999)
    elif match := _YEAR.search(text):
        years = (int(match[1]), int(match[1]))
    else:
        return None, text
    return years, f"{text[: match.start()]} {text[match.end() :]}"


# --- descriptions ------------------------------------------------------------------------------

_DESCRIBES = lazy_pattern(r"^What (?:is|was) (?:the (?P<asked>occupation|nationality) of )?(?P<name>.{2,120}?)\?*$")
_COPULA = lazy_pattern(r"(?<!\w)(?:is|was|are|were) an? ", re.I)
_CLAUSE = lazy_pattern(
    r"\s*[.;(\[]|,? (?:who|whom|whose|which|that|known|best|from|in|at|of|for|born|on|to|by|during|based|located|where"
    r"|most|established|formed|founded|recorded|released|directed|written|produced|featuring|starring|created|published"
    r"|developed|set)\b|, (?:and|with|as)\b(?= (?:the|is|was|has|had|a)\b)"
)
_NO_TRADE = word_set("former retired professional noted famous renowned leading late current american-born one")


def describe(query: Query, page: UnitPage) -> Finding | None:
    """Answer "What is X?" ("American writer"), "What is the occupation of X?" ("writer, poet") and "What is the
    nationality of X?" from the lead of X's page; None for other needs and pages."""
    match = _DESCRIBES.match(query.text)
    if match is None:
        return None
    title, bracket = _BRACKET.sub("", page.title), _BRACKET.search(page.title)
    lead = next((unit.text for unit in page.units if not unit.cells), "")
    sure = _named(match["name"].removeprefix("the "), title, lead)
    copula = _COPULA.search(lead, max(0, min(lead.find(title) + len(title), len(lead))))
    copula = copula or _COPULA.search(lead)
    if not sure or copula is None:
        return None
    told = lead[copula.end() :]
    end = _CLAUSE.search(told)
    told = told[: end.start()].strip(" ,") if end else told.strip(" .")
    if match["asked"] == "nationality":
        told = next((one for one in re.findall(r"[A-ZÀ-Þ][\w-]+(?: [A-Z][\w-]+)?", told) if nations_in(one)), "")
    elif match["asked"] == "occupation":
        kept = [word for word in told.split() if not nations_in(word) and fold(word) not in _NO_TRADE]
        told = " ".join(kept)
    trust = OTHER_BRACKET if bracket else 1.0
    return _finding(told, lead, sure * trust * DESCRIBED) if told else None


# --- decisions --------------------------------------------------------------------------------


def _best(claim: ClosedClaim, units: list[PageUnit], lead: list[PageUnit]) -> tuple[float, PageUnit]:
    """The largest share of the claim (0 to 1) that one unit supports together with the lead and the page."""
    leading = [_levels(claim, unit, first=unit in lead) for unit in lead]
    every = [(unit, _levels(claim, unit, first=unit in lead)) for unit in units]
    whole = [max(levels[at] for _, levels in every) for at in range(len(every[0][1]))]
    beside = [max(levels[at] for levels in leading) for at in range(len(whole))]
    weights = _point_weights(claim)
    best, found = -1.0, units[0]
    for unit, levels in every:
        told = [max(own, BESIDE * near, ELSEWHERE * far) for own, near, far in zip(levels, beside, whole, strict=True)]
        share = sum(weight * value for weight, value in zip(weights, told, strict=True)) / sum(weights)
        share = min(share, 0.5 + 0.5 * told[-1]) if claim.years else share
        if share > best + (0.0 if unit in lead else 0.02):
            best, found = share, unit
    return best, found


def _point_weights(claim: ClosedClaim) -> list[float]:
    """Weights of a claim's points: nation, head of the class and date weigh more than other words."""
    points = [1.0] * len(claim.points)
    if points:
        points[-1] = 1.5
    return [2.0] * len(claim.nations) + [1.2] * len(claim.names) + points + ([2.0] if claim.years else [])


def _levels(claim: ClosedClaim, unit: PageUnit, *, first: bool) -> list[float]:
    """How far a unit supports each point of the claim (0 to 1): nations, names, points, years, in this order."""
    own = _stems(unit.text)
    there = nations_in(unit.text)
    # A class mentioned further down is probably that of something else, unless the sentence is about the subject.
    weight = (
        FURTHER_DOWN if claim.plain_class and not first and not unit.cells and not _IS_ALSO.search(unit.text) else 1.0
    )
    levels = [1.0 if any(within(one, nation) for one in there) else 0.0 for nation in claim.nations]
    levels += [1.0 if name in own else 0.0 for name in claim.names]
    for point in claim.points:
        if point in own:
            levels.append(1.0)
        elif own & counts_as(point):
            levels.append(RELATED)
        elif own & alike(point):
            levels.append(RELATED - 0.1)
        else:
            levels.append(0.0)
    if claim.years:
        low, high = claim.years
        levels.append(1.0 if any(low <= year <= high for year in years(unit.text)) else 0.0)
    return [weight * level for level in levels]


_IS_ALSO = lazy_pattern(
    r"\b(?:he|she|it|they) (?:is|was|are|were|became) (?:also )?an?\b"
    r"|\b(?:career|works?|worked|served|trained) as an?\b",
    re.I,
)


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(content(text))


def _contradiction(claim: ClosedClaim, lead: list[PageUnit]) -> PageUnit | None:
    """The leading sentence that names other countries than the claim, if the lead names none of the claim's."""
    if not claim.nations:
        return None
    there = [nation for unit in lead for nation in nations_in(unit.text)]
    if not there:
        return None
    for asked in claim.nations:
        if any(within(nation, asked) or nation in wholes(asked) for nation in there):
            continue
        return next(unit for unit in lead if nations_in(unit.text))
    return None


_BRACKETED = lazy_pattern(r"\(([^()]*\d{4}[^()]*)\)")


def _alive(claim: ClosedClaim, lead: list[PageUnit], about: float) -> Finding | None:
    """Answer whether the subject lived in the claim's years, or is still alive if the claim has none."""
    for unit in lead:
        match = _BRACKETED.search(unit.text)
        if match is None:
            continue
        born, died = (*map(int, re.findall(r"\d{4}", match[1])), 0)[:2]
        low, high = claim.years or (9999, 9999)
        lived = born <= high and (not died or died >= low)
        return _finding("yes" if lived else "no", unit.text, about * 0.9)
    return None
