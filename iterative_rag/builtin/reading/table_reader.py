"""Reads tables: selects the row by a name or a rank of the query, and the column by what it asks for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from iterative_rag.builtin.language.function_words import BASE_VERBS, content, stem, word_set
from iterative_rag.builtin.language.lexicon import MEASURES, SUPERLATIVES, AnswerKind, alike
from iterative_rag.builtin.language.nouns import BARE_KINDS
from iterative_rag.builtin.language.text_values import amounts, dates
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading import typed_spans
from iterative_rag.builtin.reading.answer_words import listed_years
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage

_VERBS = frozenset(stem(verb) for verb in BASE_VERBS - {"leave"})
_TIMELIKE = word_set("first last oldest newest latest earliest youngest")
_TIME_HEADS = frozenset(
    stem(word) for word in ["year", "years", "date", "completed", "opened", "founded", "released", "published", "born"]
)
_PLACE_HEADS = frozenset(
    stem(word)
    for word in [
        "place",
        "location",
        "city",
        "town",
        "country",
        "state",
        "site",
        "venue",
        "birthplace",
        "where",
        "region",
        "county",
    ]
)


def pick(query: Query, page: UnitPage, unit: PageUnit) -> tuple[str, float] | None:
    """The cell of a row that answers the query, and the trust in it (0 to 1); None if there is none."""
    column = asked_column(query, unit)
    if column is None:
        return None
    place, trust = column
    cell = unit.cells[place]
    if query.kind in {AnswerKind.YEAR, AnswerKind.DATE, AnswerKind.NUMBER}:
        value = amount(query, unit.header[place], cell)
        return (value, trust) if value else None
    if query.kind in {AnswerKind.PERSON, AnswerKind.PLACE} or query.asked[-1:] in {("scor",), ("result",)}:
        found = typed_spans.spans(cell, query.kind, "", query.asked)
        if not found:
            return None
        return (cell if query.kind is not AnswerKind.PLACE else found[0].value), trust
    return cell, trust


def amount(query: Query, header: str, cell: str) -> str:
    """The date or number of a cell, with the unit of its header ("Height (m)"); "" if it has none."""
    found = typed_spans.spans(cell, query.kind, "")
    if query.kind is AnswerKind.NUMBER and not found and dates(cell):
        found = [typed_spans.TypedSpan(cell, 0, len(cell))]
    if not found:
        return ""
    unit = header[header.find("(") + 1 : header.find(")")] if "(" in header else ""
    if query.kind is AnswerKind.NUMBER and (years := listed_years(cell)):
        return str(years)
    plain = found[0].value
    return f"{plain} {unit}" if query.kind is AnswerKind.NUMBER and unit and plain[-1:].isdigit() else plain


def asked_column(query: Query, unit: PageUnit) -> tuple[int, float] | None:
    """Index of the column that the query asks for, else of the first without a name of the query; with its trust."""
    best: tuple[float, int] | None = None
    counted = query.kind in {AnswerKind.NUMBER, AnswerKind.YEAR, AnswerKind.DATE}
    asked = frozenset(query.asked) - (BARE_KINDS if query.kind in {AnswerKind.YEAR, AnswerKind.DATE} else frozenset())
    for place, (name, cell) in enumerate(zip(unit.header, unit.cells, strict=False)):
        head = frozenset(content(name))
        if not head or not cell:
            continue
        direct = len(head & asked) / len(head) if head & asked else 0.0
        exact = 0.9 * bool(head & set(query.relation))
        loose = 0.7 * bool(head & {s for word in (*asked, *query.relation) for s in alike(word)})
        timed = 0.4 * bool(query.kind in {AnswerKind.YEAR, AnswerKind.DATE} and head & _TIME_HEADS)
        # "Where was X shot": prefer the column of places.
        placed = 1.0 if query.kind is AnswerKind.PLACE and not asked and head & _PLACE_HEADS else 0.0
        known = bool(set(content(cell)) & query.name_words) and not counted
        score = max(direct, exact, loose, timed, placed) - 0.6 * known
        if counted and not any(character.isdigit() for character in cell):
            continue
        scored = query.asked[-1:] in {("scor",), ("result",)}
        if query.kind in {AnswerKind.THING, AnswerKind.NAME} and not scored and not any(map(str.isalpha, cell)):
            continue
        if query.kind is AnswerKind.NUMBER and _only_date(cell):
            continue
        if query.kind in {AnswerKind.PERSON, AnswerKind.PLACE} and not typed_spans.spans(cell, query.kind):
            continue
        if score > 0.3 and (best is None or score > best[0]):
            best = score, place
    if best is not None:
        least = 0.85 if is_row_of(query, unit) else 0.65
        # A low score means that only the column's type fits, not its name: trust it less.
        return best[1], (min(1.0, 0.8 + 0.2 * best[0]) if best[0] > 0.4 else least)
    if not counted:
        for place, cell in enumerate(unit.cells):
            stems = set(content(cell))
            if stems and not stems & query.name_words and not cell[0].isdigit() and len(cell) > 3:
                return place, 0.65
    return None


def _only_date(cell: str) -> bool:
    """Whether a cell is a single full date, which cannot answer a query for a number."""
    found = dates(cell)
    return len(found) == 1 and found[0][0].day > 0 and found[0][1:] == (0, len(cell))


def is_row_of(query: Query, unit: PageUnit) -> bool:
    """Whether one of the first three cells of a row equals a name of the query, word for word."""
    known = {frozenset(name) for name in query.names}
    return any(frozenset(content(re.sub(r"\s*\([^)]*\)$", "", cell))) in known for cell in unit.cells[:3] if cell)


def counted(query: Query, page: UnitPage) -> tuple[PageUnit, str] | None:
    """Count rows for "How many of the towns lie in X": the first row that meets the condition, and their number."""
    if query.kind is not AnswerKind.NUMBER or not query.asked or query.unit == "":
        return None
    for table in sorted({unit.table for unit in page.units if unit.header}):
        rows = [unit for unit in page.units if unit.table == table and unit.header]
        context = set(content(f"{page.title} {rows[0].section} {' '.join(rows[0].header)}"))
        column = next((at for at, name in enumerate(rows[0].header) if query.asked[-1] in set(content(name))), None)
        # Count a column of names; a column of numbers states the amount itself.
        if column is None or any(len(row.cells) > column and row.cells[column][:1].isdigit() for row in rows):
            continue
        terms = {*query.name_words, *query.relation, *query.asked, *map(str, query.years)}
        # Common verbs ("lie", "join") are not conditions.
        conditions = {term for term in terms - context if term not in _VERBS}
        if not conditions or not query.name_words & context:
            continue
        meeting = [row for row in rows if conditions <= set(content(row.text))]
        if meeting:
            return meeting[0], str(len(meeting))
    return None


# --- superlatives -----------------------------------------------------------------------------------


def ranked(query: Query, page: UnitPage) -> tuple[PageUnit, str] | None:
    """The row with the rank (first, second ...) of a superlative, and the name in it."""
    if not query.superlative:
        return None
    for table in sorted({unit.table for unit in page.units if unit.header}):
        rows = [unit for unit in page.units if unit.table == table and unit.header]
        measured = _measured(query, rows)
        if len(measured) < 2:
            continue
        key = _key_column(query, rows[0].header)
        if key is None:
            continue
        context = set(content(f"{page.title} {rows[0].section} {' '.join(rows[0].header)}"))
        constrained = [
            item
            for item in measured
            if query.name_words - context <= set(content(item[1].text)) and _in_time(query, item[1])
        ]
        if not constrained:
            continue
        ascending = SUPERLATIVES[query.superlative] < 0
        constrained.sort(key=lambda item: item[0], reverse=not ascending)
        place = query.ordinals[0] - 1 if query.ordinals else 0
        if place < len(constrained):
            row = constrained[place][1]
            return row, row.cells[key]
    return None


def _in_time(query: Query, row: PageUnit) -> bool:
    """Whether a row existed at the time of the query: "the tallest in 1989" excludes later ones."""
    if not query.years or query.superlative in _TIMELIKE:
        return True
    place = next((at for at, name in enumerate(row.header) if set(content(name)) & _TIME_HEADS), None)
    if place is None or place >= len(row.cells):
        return str(query.years[0]) in row.text
    found = dates(row.cells[place])
    return bool(found) and found[0][0].year <= query.years[0]


def _measured(query: Query, rows: Sequence[PageUnit]) -> list[tuple[float, PageUnit]]:
    """Rows with their value in the column that the superlative measures."""
    measure = MEASURES.get(query.superlative, "")
    wanted = {synonym for word in (measure, query.superlative) if word for synonym in alike(stem(word))}
    wanted |= (
        {synonym for word in query.relation for synonym in alike(word)}
        if query.superlative in {"most", "fewest"}
        else set()
    )
    if query.superlative in _TIMELIKE:
        wanted |= _TIME_HEADS
    place = next((at for at, name in enumerate(rows[0].header) if set(content(name)) & wanted), None)
    if place is None and query.superlative in {"largest", "biggest", "smallest"}:
        place = next(
            (at for at, name in enumerate(rows[0].header) if set(content(name)) & {"populat", "inhabit", "area"}), None
        )
    if place is None:
        return []
    found = []
    for row in rows:
        if place < len(row.cells):
            times, sizes = dates(row.cells[place]), amounts(row.cells[place])
            if query.superlative in _TIMELIKE and times:
                found.append((times[0][0].year + times[0][0].month / 12 + times[0][0].day / 400, row))
            elif sizes:
                found.append((sizes[0][0].value, row))
    return found


def _key_column(query: Query, header: Sequence[str]) -> int | None:
    """Index of the column of the asked noun: the tallest BUILDING, the longest FILM."""
    wanted = set(query.asked) - {stem(query.superlative)}
    loose = {synonym for word in wanted for synonym in alike(word)}
    for names in (wanted, loose):
        for place, name in enumerate(header):
            if set(content(name)) & names:
                return place
    return None
