"""Finds lists whose rows are not in the text: a plain-text extract keeps the heading of a table and loses its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

from iterative_rag.retrieval.article_parts import relations
from iterative_rag.retrieval.chunking import Heading, headings
from iterative_rag.text.folding import folded
from iterative_rag.text.languages import content_words, words_of
from iterative_rag.text.patterns import lazy_pattern
from iterative_rag.types import Document, Need, ShortlistedDocument

# An article that is a list has at least so many lines that could be its entries.
FEWEST_ENTRIES = 5
# A line that is longer, or ends like a sentence, is prose.
LONGEST_ENTRY = 160

# "This is a list of ..." stands in so many characters.
OPENING = 300

_OPENS_LIST = lazy_pattern(
    r"^\W*(?:this|the following|below|dies|diese|ceci|voici|esta|questa)\b"
    r"(?:\W+\w+){0,3}?\W+(?:list|liste|lista)\W+(?:of|der|des|von|de|di)\b",
    re.MULTILINE,
)
_WORDS = lazy_pattern(r"\w+")


@dataclass(frozen=True, slots=True)
class LostRows:
    """A list without rows: the whole article where `section` is "", else the section of that name."""

    section: str
    start: int
    end: int


def lost_rows(document: Document) -> tuple[LostRows, ...]:
    """Every list of a document that holds nothing: the article where its title or its first words announce a list, else
    its sections that are followed at once by the next one, or only announce what is not there."""
    text = document.text
    heads = headings(text, 0, len(text))
    if (_is_list(document.title) or _OPENS_LIST.search(folded(text[:OPENING]))) and _entries(
        text, heads
    ) < FEWEST_ENTRIES:
        return (LostRows("", 0, len(text)),)
    lost = []
    for heading, following in zip_longest(heads, heads[1:]):
        end = following.start if following else len(text)
        # A heading above subheadings holds those.
        parent = following is not None and following.level > heading.level
        name = text[heading.start : heading.end].strip("#= \t")
        body = text[heading.end : end].strip()
        if not body:
            is_lost = not parent
        elif following is None or text[following.start] in "#=" or _is_apparatus(text[following.start : following.end]):
            is_lost = not parent and _announces(body)
        else:  # in plain text, what looks like a heading may be the first row
            is_lost = False
        if is_lost and not _is_apparatus(name):
            lost.append(LostRows(name, heading.start, heading.end))
    return tuple(lost)


def lost_at(document: Document, entry: ShortlistedDocument) -> LostRows | None:
    """The list without rows that the best hit of a shortlisted document is in; None where there is none."""
    best = entry.hits[0] if entry.hits else None
    if best is None:
        return None
    return next((lost for lost in lost_rows(document) if lost.start < best.end and best.start < lost.end), None)


def lost_for(document: Document, entry: ShortlistedDocument, need: Need) -> LostRows | None:
    """As `lost_at`; where the best hit is in none, the list whose heading names what the need asks for."""
    about = (lost for lost in lost_rows(document) if lost.section and _is_about(lost.section, need))
    return lost_at(document, entry) or next(about, None)


def _is_about(section: str, need: Need) -> bool:
    """Whether a heading and a need share a word ("Notable alumni"), or a relation ("Winners" and "who won")."""
    words = content_words(section)
    told = relations(" ".join(word.removesuffix("s") for word in words))
    return bool(words & content_words(need.question) or told & relations(need.question))


def _is_list(title: str) -> bool:
    first = _WORDS.search(folded(title))
    return first is not None and first[0] in words_of("list_titles")


def _announces(body: str) -> bool:
    """Whether a section has nothing but a line that leads in to a list or says how rows of a table are set off."""
    alone = "\n" not in body and len(body) <= LONGEST_ENTRY
    return alone and (body.endswith(":") or not words_of("legends").isdisjoint(_WORDS.findall(folded(body))))


def _is_apparatus(name: str) -> bool:
    words = _WORDS.findall(folded(name))
    return bool(words) and words_of("apparatus").issuperset(words)


def _entries(text: str, heads: Sequence[Heading]) -> int:
    """The lines outside references and links that could be entries of a list."""
    apparatus = False
    begins = {heading.start for heading in heads}
    entries = at = 0
    for line in text.splitlines(keepends=True):
        said, begin = line.strip(), at + len(line) - len(line.lstrip())
        at += len(line)
        if not said:
            continue
        if begin in begins or _is_apparatus(said):
            apparatus = _is_apparatus(said)
        elif not apparatus:
            entries += said[0] in "|*-•" or (len(said) <= LONGEST_ENTRY and said[-1] not in ".:;!?")
    return entries
