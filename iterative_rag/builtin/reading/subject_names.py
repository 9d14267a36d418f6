"""Whether a page, a row or a sentence is about what a query names, or about a namesake or something else."""

from __future__ import annotations

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.language.given_names import gender_of_name
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

    A row of a table leaves out one of the names: the Elm Tower's row for "When did Tom Ruud finish the Elm Tower?". Or
    the page is that of a namesake, and the unit lacks what tells the two apart: a sentence about him in "Harald Brenk"
    for "Oda Brenk". A namesake is a person with the same surname, or a thing on whose page the rest of the name is
    nowhere: "Crystal Airport" for "Orm Airport".
    """
    names = [name for name in query.names if name and not all(word.isdigit() for word in name)]
    said = {*content(unit.text), *content(page.title)}
    if unit.header:
        around = said | set(content(" ".join((unit.section, *unit.header))))
        if any(around.isdisjoint(name) for name in names):
            return True
    title = content(_BRACKET.sub("", page.title))
    if query.name_words.issuperset(title):
        return False
    for name in names:
        # "Gray Petrel" may be the "Grey Petrel", and "H. Brenk" Harald Brenk.
        initials = {word[0] for word in title if word not in name}
        rest = {word for word in name if word not in title and word[0] not in initials}
        if not rest or not said.isdisjoint(rest) or set(title).isdisjoint(name):
            continue
        person = bool(gender_of_name(page.title)) and name[-1] == title[-1]
        if person or rest.isdisjoint(content(page.text)):
            return True
    return False
