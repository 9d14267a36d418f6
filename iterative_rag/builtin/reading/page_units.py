"""A window taken apart into what can be quoted (sentences, infobox rows, table rows), and put together into passages
as the evidence reader sees them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from iterative_rag.builtin.language.function_words import content
from iterative_rag.builtin.question.need_query import Query
from iterative_rag.builtin.tables.page_tables import OMISSION, PageTable, TableKind, TableRow, tables
from iterative_rag.text.markdown_rows import is_row
from iterative_rag.text.markup import without_links, without_struck
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.text.sentences import sentence_ends
from iterative_rag.types import Window

LONGEST_SENTENCE, SHORTEST_ROW = 1000, 4
_BRACKET = lazy_pattern(r"\s*\([^)]*\)$")


@dataclass(frozen=True, slots=True)
class PageUnit:
    """One quotable piece. `cells` and `header` are set for rows; an infobox row is a label and a value."""

    text: str
    section: str
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    infobox: bool = False
    table: int = -1


@dataclass(frozen=True, slots=True)
class UnitPage:
    """A page in units; `tables` are its tables and lists as a whole."""

    title: str
    units: tuple[PageUnit, ...]
    text: str
    tables: tuple[PageTable, ...] = ()

    @property
    def bare_title(self) -> str:
        """ "Ann Lee" of "Ann Lee (captain)"."""
        return _BRACKET.sub("", self.title)


@lru_cache(maxsize=256)
def page(window: Window) -> UnitPage:
    """The window's units in order, without struck text."""
    text = without_struck(window.text)
    page_tables = tables(text, window.title)
    rows = {
        row.start: _row(table, row, number)
        for number, table in enumerate(page_tables)
        if table.kind is not TableKind.LIST
        for row in table.rows
    }
    units: list[PageUnit] = []
    section, start = "", 0
    for line in text.split("\n"):
        bare, first = line.strip(), start + len(line) - len(line.lstrip())
        start += len(line) + 1
        if is_row(bare):
            if first in rows and len(bare) >= SHORTEST_ROW:
                units.append(rows[first])
        elif bare.startswith("#"):
            section = bare.lstrip("# ")
        elif bare and bare != OMISSION:
            units += [PageUnit(sentence, section) for sentence in sentences(bare)]
    return UnitPage(window.title, tuple(units), text, page_tables)


def _row(table: PageTable, row: TableRow, number: int) -> PageUnit:
    infobox = table.kind is TableKind.INFOBOX
    header = table.header if any(table.header) and not infobox else ()
    return PageUnit(row.text, table.section, tuple(cell.text for cell in row.cells), header, infobox, number)


def sentences(paragraph: str) -> list[str]:
    """Verbatim sentences that are long enough to say something, and not so long that they are none."""
    places = [0, *sentence_ends(paragraph), len(paragraph)]
    pieces = (paragraph[start:end].strip() for start, end in itertools.pairwise(places))
    return [piece for piece in pieces if 3 < len(piece) <= LONGEST_SENTENCE]


# Characters of a passage of prose, and of one of rows.
PROSE, ROWS = 700, 480
YEAR = 4.0


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """Consecutive units of a page as one text. `starts` are the offsets of the units in it."""

    title: str
    section: str
    text: str
    units: tuple[PageUnit, ...]
    starts: tuple[int, ...]

    def unit_of(self, start: int, end: int) -> PageUnit | None:
        """The unit that contains the characters from `start` to `end`; None if they cross two units."""
        index = max(index for index, first in enumerate(self.starts) if first <= start)
        after = self.starts[index + 1] if index + 1 < len(self.starts) else len(self.text)
        return self.units[index] if end <= after else None


@lru_cache(maxsize=256)
def shown_passages(page: UnitPage) -> tuple[ShownPassage, ...]:
    """The page's passages in order: as many units of one section and one form as fit each."""
    passages: list[ShownPassage] = []
    run: list[PageUnit] = []
    size = 0
    for unit in page.units:
        length = len(shown_text(unit))
        same = run and (unit.section, unit.table) == (run[-1].section, run[-1].table)
        if run and (not same or size + length > (ROWS if unit.cells else PROSE)):
            passages.append(_passage(page, run))
            run, size = [], 0
        run.append(unit)
        size += length
    return (*passages, _passage(page, run)) if run else tuple(passages)


def introduced_row(query: Query, page: UnitPage) -> ShownPassage | None:
    """The row of a table that has the names of the query in one cell, behind the sentence that says whom or what the
    page is about: "Ann Lee was a composer. Opera: Dawn" tells who composed it, and neither does alone."""
    named, subject = query.name_words, content(page.bare_title)[-1:]
    lead = next((unit for unit in page.units if not unit.cells), None)
    if not named or lead is None or not set(subject) <= set(content(lead.text)):
        return None
    rows = (unit for unit in page.units if unit.header and any(named <= set(content(cell)) for cell in unit.cells))
    row = next(rows, None)
    return _passage(page, [lead, row]) if row else None


def shown_text(unit: PageUnit) -> str:
    """A sentence without the targets of its links; a row as "Year: 1987 | Venue: Birmingham", one of an infobox as
    "Born: 1801"."""
    if unit.infobox:
        return without_links(": ".join(cell for cell in unit.cells if cell))
    names = (*unit.header, *[""] * len(unit.cells))
    cells = [f"{name}: {cell}" if name else cell for name, cell in zip(names, unit.cells, strict=False)]
    return without_links(" | ".join(cells) or unit.text)


def _passage(page: UnitPage, units: Sequence[PageUnit]) -> ShownPassage:
    text, starts = "", []
    for unit in units:
        text += ("\n" if unit.cells else " ") if text else ""
        starts.append(len(text))
        text += shown_text(unit)
    section = "" if units[0].section == page.title else units[0].section
    return ShownPassage(page.title, section, text, tuple(units), tuple(starts))


def likeliest(query: Query, passages: Sequence[ShownPassage], most: int, characters: int = 0) -> list[ShownPassage]:
    """The `most` passages with most of the query's words, or more of them if they are short: up to so many characters
    together; the likeliest first.

    A word counts more the fewer passages of the page have it, and a year of the query YEAR times as much.
    """
    words = [_stems(passage) for passage in passages]
    asked = dict.fromkeys((*query.relation, *query.asked, *query.name_words), 1.0)
    asked |= dict.fromkeys(map(str, query.years), YEAR)
    weights = {
        word: weight * math.log((1 + len(words)) / (1 + sum(word in some for some in words)))
        for word, weight in asked.items()
    }
    ranked = sorted(
        range(len(passages)),
        key=lambda index: (-sum(weight for word, weight in weights.items() if word in words[index]), index),
    )
    sizes = itertools.accumulate(len(passages[index].text) for index in ranked)
    count = max(most, sum(size <= characters for size in sizes))
    return [passages[index] for index in ranked[:count]]


@lru_cache(maxsize=1024)
def _stems(passage: ShownPassage) -> frozenset[str]:
    return frozenset(content(f"{passage.section} {passage.text}"))
