"""Reads a page for a query by rules: which unit answers, and which words of it are the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol

from iterative_rag.builtin.language.function_words import content, only_large
from iterative_rag.builtin.language.lexicon import AnswerKind, alike
from iterative_rag.builtin.question.need_query import Query, add_page_names
from iterative_rag.builtin.reading.answer_form import fits
from iterative_rag.builtin.reading.answer_words import infobox_value, may_be_subject, page_stems, subject_name
from iterative_rag.builtin.reading.candidate_ranking import Ranked, chance, rank, trust
from iterative_rag.builtin.reading.candidates import Candidate, candidates
from iterative_rag.builtin.reading.closed_needs import decide
from iterative_rag.builtin.reading.findings import Finding, best_of
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.builtin.reading.passage_match import TITLE, Match, match_units
from iterative_rag.builtin.tables.table_answers import table_answers
from iterative_rag.protocols import Embedder

# Number of units that are read closely.
CLOSE = 10
# Units that match less are skipped. Names may match less where the relation of several words is strong.
LEAST_MATCH, LEAST_NAMES, STRONG_RELATION = 0.24, 0.4, 0.6
# A cell of at least this many characters is read as prose.
PROSE = 30
# A row of exactly what the query names, picked with a trust of at least SURE, scores at least HIT.
SURE, HIT = 0.85, 0.84
# The score at which a row is as likely right as wrong.
EVEN = 0.72
# Share of a unit's score that the encoder's similarity contributes, and the cosines that count as 0 and as 1.
MEANING, NONE, FULL = 0.25, 0.15, 0.75


@dataclass(frozen=True, slots=True)
class Offer:
    """A ranked candidate of the page's prose with its sentence."""

    ranked: Ranked
    quote: str

    @property
    def value(self) -> str:
        return self.ranked.candidate.value


class PageReader(Protocol):
    """Reads the answer to a query out of a page.

    `fingerprint` identifies rules and weights, since findings are cached under it. `read` returns findings with a
    value, a verbatim quote and a trust from 0 to 1; an empty list if the page does not answer.
    """

    @property
    def fingerprint(self) -> str: ...

    def read(self, query: Query, page: UnitPage) -> list[Finding]: ...


class RuleReader:
    """Scores sentences and rows by words and by embedding similarity, and picks a span of the expected kind."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        # One text at a time on the calling thread, since the engine reads windows in parallel. Cached because the
        # needs of one question meet the same sentences.
        self._vector = lru_cache(maxsize=1024)(embedder.embed_query)

    @property
    def fingerprint(self) -> str:
        return f"rules-3/{self._embedder.name}"

    def read(self, query: Query, page: UnitPage) -> list[Finding]:
        if (said := decide(query, page)) is not None:
            return said
        rows, offers = self.look(query, page)
        ranked = [offer.ranked for offer in offers]
        prose = [
            Finding(offer.value, offer.quote, trust(chance(offer.ranked, ranked)), offer.quote)
            for offer in offers[:CLOSE]
        ]
        return best_of([*rows, *prose])

    def look(self, query: Query, page: UnitPage) -> tuple[list[Finding], list[Offer]]:
        """The findings of tables and infoboxes, and the candidates of the prose, best first."""
        query = add_page_names(query, page.title, only_large(page.text))
        rows: list[Finding] = []
        prose: list[tuple[PageUnit, list[Candidate]]] = []
        first = next((unit for unit in page.units if not unit.cells), None)
        for match, meaning in self.matches(query, page):
            if match.unit.cells and (finding := _finding(query, page, match)) is not None:
                rows.append(finding)
            elif match.unit.header and (part := _prose_cell(query, match.unit)) is not None:
                match = replace(match, unit=part)
                prose.append((part, candidates(query, page, match, meaning, first=False)))
            elif not match.unit.cells:
                prose.append((match.unit, candidates(query, page, match, meaning, first=match.unit is first)))
        rows += answers_of_tables(query, page)
        return rows, [Offer(item, prose[item.unit][0].text) for item in rank([offers for _, offers in prose])]

    def matches(self, query: Query, page: UnitPage) -> list[tuple[Match, float]]:
        """The best matching units and their similarity to the query (0 to 1), which is mixed into their scores."""
        fitting = [
            match
            for match in match_units(query, page)
            if match.score >= LEAST_MATCH
            and match.weakest_name > 0
            and (match.names >= LEAST_NAMES or (match.relation >= STRONG_RELATION and len(query.relation) > 3))
        ]
        fitting = sorted(fitting, key=lambda match: -match.score)[:CLOSE]
        if not fitting:
            return []
        import numpy as np

        vectors = np.stack([self._vector(_readable(page, match.unit)) for match in fitting])
        similar = ((vectors @ self._vector(query.text) - NONE) / (FULL - NONE)).clip(0.0, 1.0)
        return [
            (replace(match, score=(1 - MEANING) * match.score + MEANING * float(meaning)), float(meaning))
            for match, meaning in zip(fitting, similar, strict=True)
        ]


def answers_of_tables(query: Query, page: UnitPage) -> list[Finding]:
    """What the tables and lists of a page answer, the most trusted first."""
    return [
        Finding(answer.value, answer.quotes[0][0], answer.trust, answer.quotes[0][1], answer.quotes[1:])
        for answer in table_answers(query, page.text, page.tables)
        if all(fits(query, value) for value in answer.values)
    ][:1]


def row_trust(score: float) -> float:
    """Map a row's score to a trust, piecewise linear: 0 at 0, 0.5 at EVEN, 1 at 1."""
    return 0.5 * score / EVEN if score < EVEN else 0.5 + 0.5 * (score - EVEN) / (1 - EVEN)


def _finding(query: Query, page: UnitPage, match: Match) -> Finding | None:
    unit, score = match.unit, match.score
    if unit.infobox:
        picked = infobox_value(query, page, unit)
    elif unit.header:
        # The row lists something of the page's subject: the works of a composer, the events of a stadium.
        about = page_stems(page)
        fits_kind = query.asked and any(word in about for word in alike(query.asked[-1]))
        picked = (subject_name(page.title), 0.95) if fits_kind and may_be_subject(query, page, about) else None
        if picked is not None and query.relation and match.relation < 0.3:
            picked = picked[0], picked[1] * 0.8
    else:
        picked = None
    if picked is not None and picked[1] >= SURE and _is_exact_row(query, page, match):
        score = max(score, HIT)
    if picked is None or not picked[0]:
        return None
    return Finding(picked[0], unit.text, row_trust(min(1.0, score * picked[1])), _readable(page, unit))


def _is_exact_row(query: Query, page: UnitPage, match: Match) -> bool:
    """Whether a row is about exactly what the query names and mentions its relation."""
    label = set(content(match.unit.cells[0])) if match.unit.infobox else set()
    dated = match.unit.header and query.kind in {AnswerKind.YEAR, AnswerKind.DATE}
    if not (match.relation >= 0.3 or dated or label & set(query.asked)):
        return False
    if query.ordinals or any(str(year) not in match.unit.text for year in query.years):
        return False
    if match.unit.header:
        return _is_row_of(query, match.unit)
    return match.weakest_name >= TITLE and bool(set(content(subject_name(page.title))) & query.name_words)


def _is_row_of(query: Query, unit: PageUnit) -> bool:
    """Whether one of the first three cells of a row equals a name of the query, word for word."""
    known = {frozenset(name) for name in query.names}
    return any(frozenset(content(re.sub(r"\s*\([^)]*\)$", "", cell))) in known for cell in unit.cells[:3] if cell)


def _prose_cell(query: Query, unit: PageUnit) -> PageUnit | None:
    """The best part of a prose cell ("capital; Old Hall by Ann Lee, torn down 1968") as a unit read like a sentence."""
    parts = [part for cell in unit.cells if len(cell) >= PROSE for part in cell.split("; ")]
    if not parts:
        return None
    wanted = {*query.name_words, *query.relation, *map(str, query.years)}
    return replace(unit, text=max(parts, key=lambda part: len(wanted & set(content(part)))), cells=(), header=())


def _readable(page: UnitPage, unit: PageUnit) -> str:
    """A unit as text to embed and to show: a row is written as a sentence."""
    if unit.infobox:
        return f"{page.title}: {unit.cells[0]}: {unit.cells[1]}"
    if unit.header:
        named = "; ".join(f"{name}: {cell}" for name, cell in zip(unit.header, unit.cells, strict=False) if cell)
        return f"{page.title}: {named}"
    return unit.text
