"""The sections of an article that tell of what a need asks for, though its words may not stand there: a need for a wife
is met by "In 1921 she married" below "Personal life", which a search for the word "wife" ranks low.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import resources

from iterative_rag.retrieval.article_parts import Section, sections
from iterative_rag.retrieval.same_need import shape
from iterative_rag.text.folding import folded
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Document, Hit, Need, ShortlistedDocument

# A section is read in pieces of this many characters, the first of them after the best hits of the search.
PIECE_CHARS, BEST_HITS, FIRST_PIECES = 400, 2, 2

_WORD = lazy_pattern(r"[^\W_]+")


def with_sections(document: Document, entry: ShortlistedDocument, needs: Iterable[Need]) -> ShortlistedDocument:
    """The entry with hits in the sections that the needs ask about; itself where the article has none."""
    wanted = frozenset(word for need in needs for word in _heading_words(shape(need.question).relations))
    if not wanted:
        return entry
    found = [one for one in sections(document.text) if wanted & set(_WORD.findall(folded(one.heading)))]
    pieces = [piece for one in found for piece in _pieces(document, one)]
    hits = entry.hits
    order = (*hits[:BEST_HITS], *pieces[:FIRST_PIECES], *hits[BEST_HITS:], *pieces[FIRST_PIECES:])
    return replace(entry, hits=order)


def _pieces(document: Document, section: Section) -> Iterator[Hit]:
    for start in range(section.start, section.end, PIECE_CHARS):
        yield Hit(document.id, document.title, start, min(start + PIECE_CHARS, section.end), 0.0)


def _heading_words(relations: frozenset[str]) -> Iterator[str]:
    for told, headings in _told_under().items():
        if told in relations:
            yield from headings


@cache
def _told_under() -> dict[str, frozenset[str]]:
    """The words of headings under which each relation is told."""
    text = resources.files("iterative_rag.retrieval").joinpath("relation_words.toml").read_text(encoding="utf-8")
    told: dict[str, frozenset[str]] = {}
    for row in tomllib.loads(text)["sections"]:
        for relation in row["relations"].split():
            told[relation] = told.get(relation, frozenset()) | set(row["headings"].split())
    return told
