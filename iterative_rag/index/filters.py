"""What of a corpus is within a part of it: by title, source, section, language, date or metadata.

The vector index knows none of these. The documents database tells which documents are meant; for sections, and for rows
of tables, the texts of those that may hold them are looked into. What is left is searched by the ids of its points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from uuid import UUID

from iterative_rag.index.catalogue import CatalogueEntry, Points
from iterative_rag.index.collections.collection_corpus import CollectionCorpus, OpenedCorpus, only_as_a_whole
from iterative_rag.index.document_facts import date_of, empty_part, language_told
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.part_spans import PartSpans, TextTest, equals, in_section, pattern, with_value, within_all
from iterative_rag.index.vector_store import point_id, point_ids
from iterative_rag.types import COLUMN_KEY, Hit, Within


@dataclass(frozen=True, slots=True)
class Selection:
    """The points to search, and of each document what is read of it (None: all). `titles` are theirs, sorted; the
    corpus has `of` documents.

    Where the date of documents counts, `undated` documents were left out for having none, and `by_file_date` taken by
    the day on which their file was written.
    """

    points: frozenset[UUID]
    documents: Mapping[str, PartSpans | None]
    titles: tuple[str, ...]
    of: int
    undated: int = 0
    by_file_date: int = 0


def selection(corpus: IndexedCorpus, wanted: Sequence[Within]) -> Selection:
    """What of the corpus is within all of these. Raises NothingWithin where nothing is.

    Costs a look at every title; for a section or rows, at the text of every document that the rest leaves.
    """
    entries = corpus.catalogue()
    chosen = {entry.id: entry for entry in entries if all(_is_meant(entry, within) for within in wanted)}
    points: set[UUID] = set()
    documents: dict[str, PartSpans | None] = {}
    for group in corpus.points(list(chosen)):
        ids, spans = _points_of(corpus, group, list(_text_tests(chosen[group.document_id], wanted)))
        if ids:
            points |= ids
            documents[group.document_id] = spans
    if not points:
        raise empty_part(corpus.name, wanted, entries)
    dates = [date_of(entry) for entry in entries] if any(within.since for within in wanted) else []
    by_file = sum(date_of(chosen[document_id])[1] for document_id in documents) if dates else 0
    titles = tuple(entry.title for entry in entries if entry.id in documents)
    undated = sum(not date for date, _ in dates)
    return Selection(frozenset(points), documents, titles, len(entries), undated, by_file)


def search_filtered(corpus: OpenedCorpus, query: str, limit: int, *wanted: Within) -> list[Hit]:
    """The best passages of those that are within all of these, ranked as if there were no others.

    Raises NothingWithin where no passage is, which is something else than that none is found, and UsageError for a
    collection of another program.
    """
    if not any(wanted):
        return corpus.search([query], limit)[0]
    if isinstance(corpus, CollectionCorpus):
        raise only_as_a_whole(corpus.name)
    with closing(corpus.pinned()) as pinned:  # apart: a text outside must not stand for a copy within
        return pinned.search([query], limit, selection(pinned, wanted).points)[0]


def _is_meant(entry: CatalogueEntry, wanted: Within) -> bool:
    """Whether the document is meant, as far as is told without a look at its text."""
    places = [entry.source, *([entry.url] if entry.url else [])]
    return (
        (not wanted.title or pattern(_plain(wanted.title)).search(_plain(entry.title)) is not None)
        and (not wanted.source or any(pattern(wanted.source).search(source) for source in places))
        and (not wanted.language or language_told(entry) == wanted.language.casefold())
        and (not wanted.since or _is_since(date_of(entry)[0], wanted.since))
        and all(_holds(entry, *condition) or _has_column(entry, condition[0]) for condition in wanted.conditions)
    )


def _text_tests(entry: CatalogueEntry, wanted: Sequence[Within]) -> Iterator[TextTest]:
    """What only the text of a document tells."""
    for within in wanted:
        if within.section:
            yield in_section(within.section, entry.title)
        for key, value in within.conditions:
            if not _holds(entry, key, value):
                yield with_value(key, value)


def _points_of(corpus: IndexedCorpus, points: Points, tests: Sequence[TextTest]) -> tuple[set[UUID], PartSpans | None]:
    """The points of a document that are meant, and what is read of it."""
    if not tests:
        return set(point_ids([points])), None
    spans = within_all(corpus.document(points.document_id).text, tests)
    if not spans.own:
        return set(), None
    passages = corpus.passages(points.document_id)
    meant = [passage for passage in passages if spans.touches(passage.start, passage.end)]
    ids = {point_id(points.document_id, points.version, passage.ordinal) for passage in meant}
    return ids, spans


def _is_since(date: str, since: str) -> bool:
    """Of a date that is known less exactly than what is asked for, the year or month decides."""
    return bool(date) and date >= since[: len(date)]


def _holds(entry: CatalogueEntry, key: str, value: str) -> bool:
    return any(known.casefold() == key.casefold() and equals(value, held) for known, held in entry.metadata)


def _has_column(entry: CatalogueEntry, name: str) -> bool:
    return _holds(entry, COLUMN_KEY, name)


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").split())
