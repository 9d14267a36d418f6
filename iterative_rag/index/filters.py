"""Filters of a search: by title, source, section or language. The vector index knows none of them.

The documents database tells which documents are meant, and sections are those of the chunker: the passages of the
documents that hold the words are cut again. What is left is searched by the ids of its points.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, fields
from fnmatch import translate
from urllib.parse import urlsplit
from uuid import UUID

from iterative_rag.errors import CorpusError
from iterative_rag.index.catalogue import CatalogueEntry, Points, questions_wanted
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.vector_store import point_id, point_ids
from iterative_rag.types import Hit

# The hosts of Wikimedia's wikis name the language: de.wikipedia.org, zh-min-nan.m.wikipedia.org.
_WIKI_HOST = re.compile(r"(?!www\.)(?P<lang>[a-z]{2,3}(?:-[a-z-]+)?|simple)\.(?:m\.)?wik(?:i[a-z]+|tionary)\.org")


@dataclass(frozen=True, slots=True)
class Filter:
    """What a passage must be of; "" is anything.

    `title`, `source` (path or URL) and `section` (headings above the passage) are a part of the name, or with `*` or
    `?` a pattern of all of it; case does not matter. `language` is that of the document's page ("de"), which its
    address tells; a document without one has none.
    """

    title: str = ""
    source: str = ""
    section: str = ""
    language: str = ""

    def __bool__(self) -> bool:
        return any((self.title, self.source, self.section, self.language))


def matching(corpus: IndexedCorpus, wanted: Filter) -> frozenset[UUID]:
    """The points of the passages that are meant.

    Costs a look at every title, and for a section at the text of every document that title, source and language leave.
    """
    chosen = [entry.id for entry in corpus.catalogue() if _is_meant(entry, wanted)]
    current = corpus.points(chosen)
    if not wanted.section:
        return frozenset(point_ids(current))
    named = _pattern(" ".join(wanted.section.split()))
    found: set[UUID] = set()
    for points in current:
        ordinals = _ordinals(corpus, points.document_id, named, wanted.section)
        found |= {point_id(points.document_id, points.version, ordinal) for ordinal in ordinals}
        found |= _questions_of(corpus, points, ordinals)
    return frozenset(found)


def search_filtered(corpus: IndexedCorpus, query: str, limit: int, wanted: Filter) -> list[Hit]:
    """The best passages of those that are meant, ranked as if there were no others.

    Raises CorpusError where no passage is meant, which is something else than that none is found.
    """
    if not wanted:
        return corpus.search([query], limit)[0]
    among = matching(corpus, wanted)
    if not among:
        given = ", ".join(f"{one.name} {value!r}" for one in fields(wanted) if (value := getattr(wanted, one.name)))
        raise CorpusError(
            f"The corpus {corpus.name!r} has no passage of {given}.",
            hint="Use a shorter part of the name, or a pattern with *; iterative-rag search WORDS shows titles.",
        )
    return corpus.search_points(among, [query], limit)[0]


def language_of(url: str | None) -> str:
    """The language of a Wikimedia page, "" for any other; that of the Simple English Wikipedia is "simple"."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return ""
    match = _WIKI_HOST.fullmatch(host)
    return match["lang"] if match else ""


def _is_meant(entry: CatalogueEntry, wanted: Filter) -> bool:
    places = [entry.source, *([entry.url] if entry.url else [])]
    return (
        (not wanted.title or _pattern(_plain(wanted.title)).search(_plain(entry.title)) is not None)
        and (not wanted.source or any(_pattern(wanted.source).search(place) for place in places))
        and (not wanted.language or language_of(entry.url) == wanted.language.lower())
    )


def _ordinals(corpus: IndexedCorpus, document_id: str, named: re.Pattern[str], section: str) -> Collection[int]:
    # A heading stands in the text: documents without its words need not be cut.
    words = [word for word in re.split(r"[\s*?]+", section) if word]
    text = corpus.document(document_id).text.casefold()
    if not all(word.casefold() in text for word in words):
        return ()
    return [one.ordinal for one in corpus.passages(document_id) if any(map(named.search, _sections(one.header)))]


def _questions_of(corpus: IndexedCorpus, points: Points, ordinals: Collection[int]) -> set[UUID]:
    """The points of the questions that passages of these ordinals answer."""
    if not ordinals or not questions_wanted(points.version):
        return set()
    passages = corpus.passages(points.document_id)
    wanted = {(passages[ordinal].start, passages[ordinal].end) for ordinal in ordinals}
    questions = [
        point_id(points.document_id, points.version, ordinal) for ordinal in range(len(passages), points.passages)
    ]
    return {point for point, place in corpus.places(questions).items() if (place.start, place.end) in wanted}


def _sections(header: str) -> list[str]:
    """`Title > Section > Subsection`, with the header of a table below: the headings alone."""
    return header.partition("\n")[0].split(" > ")[1:]


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").split())


def _pattern(text: str) -> re.Pattern[str]:
    if "*" in text or "?" in text:
        return re.compile(translate(text), re.IGNORECASE)
    return re.compile(re.escape(text), re.IGNORECASE)
