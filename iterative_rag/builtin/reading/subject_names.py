"""Whether a page, a row or a sentence is about what a query names, or about a namesake or something else."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.reading.page_units import PageUnit, UnitPage
from iterative_rag.text.patterns import lazy_pattern

# A page with a smaller share of the words of the query's names is not read.
LEAST_NAMES = 0.5
_BRACKET = lazy_pattern(r"\s*\([^()]*\)$")


def is_named(query: Query, page: UnitPage) -> bool:
    """Whether a page holds enough of the words of the query's names to be read."""
    names = query.name_words
    said = {*content(page.title), *content(page.text)}
    return len(names & said) >= LEAST_NAMES * len(names)


def is_row_of_namesake(query: Query, unit: PageUnit) -> bool:
    """Whether a row is that of another bearer of a surname: "Nils Brenk" for "Oda Brenk"."""
    own = content(unit.cells[0])
    return len(own) > 1 and any(
        len(name) > 1 and name[-1] == own[-1] and name[0][0] != own[0][0] and not set(name) <= set(content(unit.text))
        for name in query.names
    )


def is_of_others(query: Query, page: UnitPage, unit: PageUnit) -> bool:
    """Whether nothing tells that a unit speaks of what the query names.

    A row of a table leaves out one of the names: the Elm Tower's row for "When did Tom Ruud finish the Elm Tower?".
    Or the page has the title of a namesake, and the unit lacks what tells the two apart: a sentence about him in
    "Nils Brenk" for "Oda Brenk".
    """
    names = [frozenset(name) for name in query.names if name]
    title = frozenset(content(_BRACKET.sub("", page.title)))
    said = {*content(unit.text), *content(page.title)}
    if unit.header:
        around = said | set(content(" ".join((unit.section, *unit.header))))
        if any(name.isdisjoint(around) for name in names):
            return True
    if title <= query.name_words:
        return False
    return any(name & title and not name <= title and (name - title).isdisjoint(said) for name in names)
