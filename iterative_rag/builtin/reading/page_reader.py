"""Reads a page for a need: rows and tables that answer it as a whole, and what the evidence reader finds in the
likeliest passages.

A value leaves only if its form does not say that it is of another kind than is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from iterative_rag.builtin.language.function_words import content, folded, stem, word_set
from iterative_rag.builtin.language.lexicon import INVERSE, AnswerKind, alike, counts_as, near_kinds
from iterative_rag.builtin.language.value_agreement import agree
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading import finding_odds
from iterative_rag.builtin.reading.answer_form import asks_for_measure, fits, lacks_unit, shortened, trimmed
from iterative_rag.builtin.reading.denials import bears_on, denies_value, denies_yes, is_denial, is_untrue, leaves_open
from iterative_rag.builtin.reading.evidence_reader import EvidenceReader, EvidenceReading, PassageText
from iterative_rag.builtin.reading.finding_odds import Features
from iterative_rag.builtin.reading.findings import BEST, INCOMPLETE, NONE, NOTHING, RULES, Finding, best_of, trust
from iterative_rag.builtin.reading.infobox_facts import infobox_fact, item_asked_for
from iterative_rag.builtin.reading.page_units import (
    PROSE,
    PageUnit,
    ShownPassage,
    UnitPage,
    introduced_row,
    likeliest,
    shown_passages,
    shown_text,
)
from iterative_rag.builtin.reading.subject_names import (
    SURE,
    is_named,
    is_of_a_longer_name,
    is_of_others,
    is_told_of_another,
    namesake_share,
)
from iterative_rag.builtin.tables.page_tables import OMISSION
from iterative_rag.builtin.tables.table_answers import table_answers
from iterative_rag.builtin.tables.table_operations import TableOperation
from iterative_rag.builtin.tables.table_question import asks_for_all
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.units import unit_of

# Limits of cost: most passages of a page that are read, spans of each that are considered, and values of the page that
# are offered. They and the shares below were set by hand on development questions; none of them is fitted.
PASSAGES, SPANS, OFFERED = 3, 3, 2
# Characters up to which more passages are read: the words of a short page may all differ from those of the need.
SHORT = PASSAGES * PROSE
# No further passage of a page is read after a value that is so likely, nor, where no name of the query is in its title,
# after so many passages of which none answers with such a chance. Of 658 pages read for starter questions a later
# passage was then likelier than even to answer in 4.
SETTLED, HOPED, HOPEFUL = 0.95, 2, 0.4
# A value never leaves if its form has less than this probability of being of the kind asked for.
LEAST_KIND = 0.15
# The share of its chance that is left to a value whose passage does not speak of what is asked for, or of whom.
UNSAID = 0.5
# "430 km" is seldom the depth of a river unless it is said to be, nor a father a grandfather.
_NAMED = frozenset(
    stem(word)
    for word in word_set(
        "depth width weight grandfather grandmother grandson granddaughter uncle aunt nephew niece cousin"
    )
)
_COUNTED = lazy_pattern(r"(?:\w+ )?how many (?P<what>\w+)", re.IGNORECASE)
# Characters behind a number in which what it counts may stand: "eleven healthy children".
COUNTED_NEAR = 17
# The share of its trust that is left to one value where all of something are asked for: there is seldom only one. Set
# by hand, as few questions that it could be fitted on ask for all of something.
SINGLE = 0.6
# The share of the best score from which on another value of the same page contests it, and the share of their trust
# that is left to both. Set on 100 plain questions over the pages of FRAMES.
RIVAL, CONTESTED = 0.8, 0.6
# The first cell of a row with a letter, which mostly names what the row is about.
_NAMING = lazy_pattern(r"[^|·]*[^\W\d_|·][^|·]*")
# "two of the best-known skyscrapers", "eight": how many there are, and not which.
_COUNT = lazy_pattern(r"(?i:two|three|four|five|six|seven|eight|nine|ten|several|many|some)\b(?! [A-Z])")
_SEVERAL = lazy_pattern(r", | and ")


@dataclass(frozen=True, slots=True)
class Offered:
    """A value of a passage with its quote, and what tells whether it is the answer."""

    value: str
    unit: PageUnit
    features: Features
    kind: float
    said: bool = True


@dataclass(frozen=True, slots=True)
class _Candidate:
    value: str
    share: float
    unit: PageUnit
    passage: ShownPassage
    reading: EvidenceReading


class EvidencePageReader:
    """Reads the answers to a query out of a page; thread-safe. `without`: parts that are left out, for measuring what
    each adds: the files "infobox_facts" and "table_answers"."""

    def __init__(self, evidence: EvidenceReader, *, without: Collection[str] = ()) -> None:
        self._evidence, self._without = evidence, frozenset(without)

    @property
    def fingerprint(self) -> str:
        return "/".join((self._evidence.name, RULES, *sorted(self._without)))

    def read(self, query: Query, page: UnitPage) -> list[Finding]:
        if not is_named(query, page):
            return []
        weights = self._evidence.weights
        if query.kind is AnswerKind.YES_NO:
            decided = [
                (offer, finding_odds.chance(weights["polar"], offer.features)) for offer in self.decided(query, page)
            ]
            return best_of(
                [_finding(page, offer, chance * (1.0 if offer.said else UNSAID)) for offer, chance in decided]
            )
        stated = None if "infobox_facts" in self._without else infobox_fact(query, page)
        tabled = [] if "table_answers" in self._without else answers_of_tables(query, page)
        if stated and all(finding.score < stated.score for finding in tabled):
            return best_of(_as_parts(query, [stated]))  # so the network need not read the page
        findings = [*tabled, *([stated] if stated else [])]
        share = namesake_share(query, page)
        for offer in self.offered(query, page):
            if offer.kind < LEAST_KIND:
                continue
            chance = share * finding_odds.chance(weights["value"], offer.features) * (1.0 if offer.said else UNSAID)
            findings.append(_finding(page, offer, max(chance, SURE) if _is_denied(query, page, offer) else chance))
        return _doubted(query, page, best_of(_as_parts(query, findings)))

    def offered(self, query: Query, page: UnitPage) -> list[Offered]:
        """The likeliest values of the page."""
        best: dict[str, _Candidate] = {}
        for candidate in self._candidates(query, page):
            key = folded(candidate.value)
            if key not in best or _likely(candidate) > _likely(best[key]):
                best[key] = candidate
        chosen = sorted(best.values(), key=lambda candidate: -_likely(candidate))[:OFFERED]
        return [_offer(query, page, candidate) for candidate in chosen]

    def _candidates(self, query: Query, page: UnitPage) -> list[_Candidate]:
        """The values of the likeliest passages, which are read only as far as they may bring a better one."""
        other = query.name_words.isdisjoint(content(page.title))
        candidates = self._makers(query, page) if other else []
        answerable = 0.0
        # What the rows of tables answer, `tables` reads: a row by itself does not show that it is the one meant.
        passages = shown_passages(replace(page, units=tuple(unit for unit in page.units if not unit.header)))
        for read, passage in enumerate(likeliest(query, passages, PASSAGES, SHORT)):
            if other and read >= HOPED and answerable < HOPEFUL:
                break
            if any(_likely(candidate) >= SETTLED for candidate in candidates):
                break
            (reading,) = self._evidence.read(query.text, [_text(passage)], best=SPANS)
            answerable = max(answerable, reading.answerable)
            candidates += self._values(query, passage, reading)
        return candidates

    def _makers(self, query: Query, page: UnitPage) -> list[_Candidate]:
        """The subject of the page as the answer, with the row of a work, or of whatever else is its own, quoted."""
        passage = introduced_row(query, page)
        if passage is None:
            return []
        (reading,) = self._evidence.read(query.text, [_text(passage)], best=SPANS)
        values = self._values(query, passage, reading)
        return [
            replace(candidate, unit=passage.units[1])
            for candidate in values
            if folded(candidate.value) == folded(page.bare_title)
        ]

    def _values(self, query: Query, passage: ShownPassage, reading: EvidenceReading) -> list[_Candidate]:
        """What a passage offers that has the form and the kind asked for."""
        candidates = []
        for span in reading.spans:
            unit, value = passage.unit_of(span.start, span.end), span.text.strip("* ")
            if unit is None:
                continue
            # The network may take several items of a cell for one value: "Tom Voss (1910–1922), Una Orr".
            value = (item_asked_for(query, unit.cells[1]) if unit.infobox and len(unit.cells) == 2 else "") or value
            value = NOTHING if value.casefold() in NONE else trimmed(query, value)
            if not value or (unit.infobox and value == unit.cells[0]):
                continue
            told = _denies(query, unit) if value == NOTHING else not denies_value(query, unit.text, value)
            # The header of a column, which may name the unit of its cells, is not known here.
            bare = (unit.infobox or not unit.cells) and lacks_unit(query, _in_text(unit, value), (*unit.cells, "")[0])
            if told and fits(query, value) and not bare:
                candidates.append(_Candidate(value, span.probability, unit, passage, reading))
        return candidates

    def decided(self, query: Query, page: UnitPage) -> list[Offered]:
        """Yes or no by each of the page's likeliest passages, with its lead, which tells what the subject is."""
        every = shown_passages(page)
        passages = list(dict.fromkeys((*every[:1], *likeliest(query, every, PASSAGES - 1))))
        readings = self._evidence.read(query.text, [_text(passage) for passage in passages])
        offers = []
        for passage, reading in zip(passages, readings, strict=True):
            yes = reading.yes > reading.no
            unit = _decisive(query, page, passage, yes=yes)
            if reading.spans and unit:
                value = "yes" if yes and not is_untrue(query, unit.text) else "no"
                said = not is_of_others(query, page, unit) and (not yes or bears_on(query, page, unit))
                offers.append(Offered(value, unit, finding_odds.of_decision(query, passage, reading), 1.0, said))
        return offers


def answers_of_tables(query: Query, page: UnitPage) -> list[Finding]:
    """What the tables and lists of a page answer, the most trusted first."""
    return [
        Finding(answer.value, answer.quotes[0][0], answer.trust, answer.quotes[0][1], answer.quotes[1:])
        for answer in table_answers(query, page.text, page.tables)
        if all(fits(query, value) and not lacks_unit(query, value, answer.quotes[0][1]) for value in answer.values)
        and not (answer.operation is TableOperation.COUNT and asks_for_measure(query))
        and not any(denies_value(query, answer.quotes[0][0], value) for value in answer.values)
        and not _measures_another(query, "".join(_NAMING.findall(answer.quotes[0][0])[:1]))
    ][:1]


def _doubted(query: Query, page: UnitPage, findings: list[Finding]) -> list[Finding]:
    """The findings; where only parts of the document are shown, and say two things nearly as surely, each is trusted
    less: a third part may say what they are."""
    if len(findings) == BEST and OMISSION in page.text and not asks_for_all(query):
        first, second = findings
        of_prose = not any(is_row(finding.quote) for finding in findings)
        if of_prose and second.score >= RIVAL * first.score and not agree(first.value, second.value):
            return [replace(finding, score=CONTESTED * finding.score) for finding in findings]
    return findings


def _as_parts(query: Query, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; if the query asks for all of something, one value is said to be a part and is trusted less, and
    what only tells how many there are is left out."""
    if not findings or not asks_for_all(query):
        return list(findings)
    return [
        finding
        if finding.rows or _SEVERAL.search(finding.value)
        else replace(finding, score=SINGLE * finding.score, statement=f"{finding.statement} {INCOMPLETE}")
        for finding in findings
        if not _COUNT.match(finding.value)
    ]


def _measures_another(query: Query, subject: str) -> bool:
    """Whether something is measured that has a longer name than the thing asked for."""
    return asks_for_measure(query) and is_of_a_longer_name(query, subject)


def _in_text(unit: PageUnit, value: str) -> str:
    """A value with what stands behind it, which tells what it counts or measures."""
    at = unit.text.find(value)
    return unit.text[at : at + len(value) + COUNTED_NEAR] if at >= 0 else value


def _denies(query: Query, unit: PageUnit) -> bool:
    """Whether "none" stands under what is asked for: "Spouse: none" says nothing about a painter."""
    label = set(content(unit.cells[0] if unit.cells else unit.text))
    return any(alike(word) & label for word in (*query.asked, *query.relation))


def _is_denied(query: Query, page: UnitPage, offer: Offered) -> bool:
    """Whether the subject's own infobox says that there is nothing: "Spouse: none"."""
    names = query.name_words
    return offer.value == NOTHING and offer.unit.infobox and bool(names) and names <= set(content(page.title))


def _likely(candidate: _Candidate) -> float:
    return candidate.share * candidate.reading.answerable


def _offer(query: Query, page: UnitPage, candidate: _Candidate) -> Offered:
    features = finding_odds.of_value(query, candidate.passage, candidate.reading, (candidate.value, candidate.share))
    kind = finding_odds.of_asked_kind(candidate.reading.kinds, candidate.value)
    passage = candidate.passage
    before = candidate.unit.text.partition(candidate.value)[0]
    others = is_of_others(query, page, candidate.unit) or is_told_of_another(query, before)
    longer = _measures_another(query, page.bare_title) and query.name_words.isdisjoint(content(candidate.unit.text))
    said = _says(query, passage) and not (others or longer)
    # Of several places none is a part of another.
    several = query.kind is AnswerKind.PLACE and asks_for_all(query)
    value = candidate.value if several else shortened(query, candidate.value)
    return Offered(value, candidate.unit, features, kind, said)


def _says(query: Query, passage: ShownPassage) -> bool:
    """Whether a passage speaks of what is asked for: of a dish for "What was the favourite dish of Ann Lee?"."""
    # Only for things, a few measures and relatives: whether a value is a date, a place or a length is told by its form.
    named = next((word for word in query.asked if word in _NAMED), "")
    counted = _COUNTED.match(query.text)
    what = stem(counted["what"].lower()) if counted and not unit_of(counted["what"]) else named
    asked = query.attribute if query.kind is AnswerKind.THING else what
    kinds, turned = {stem(word) for word in near_kinds(asked)}, INVERSE.get(asked, frozenset())
    near = alike(asked) | counts_as(asked) | kinds | turned
    return not asked or bool(near & set(content(f"{passage.title} {passage.section} {passage.text}")))


def _text(passage: ShownPassage) -> PassageText:
    return PassageText(passage.title, passage.section, passage.text)


def _decisive(query: Query, page: UnitPage, passage: ShownPassage, *, yes: bool) -> PageUnit | None:
    """The unit of a passage that is quoted for a decision: the one with most of the query's words if it bears it out,
    and for a no else the first of the others that denies what is asked."""
    every = [ShownPassage("", "", unit.text, (unit,), (0,)) for unit in passage.units]
    first, *others = [only.units[0] for only in likeliest(query, every, 1 if yes else len(every))]
    if not (denies_yes(query, first.text) if yes else leaves_open(query, page, first)):
        return first
    return next((unit for unit in others if is_denial(unit.text) and bears_on(query, page, unit)), None)


def _finding(page: UnitPage, offer: Offered, chance: float) -> Finding:
    statement = f"{page.title}: {shown_text(offer.unit)}" if offer.unit.cells else offer.unit.text
    return Finding(offer.value, offer.unit.text, trust(chance), statement)
