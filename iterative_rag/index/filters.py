"""Parts of an open corpus as corpora: the paragraphs of one question, or what a question is kept to, which is what of
the corpus is within it by title, source, language, date or metadata.

The vector index knows none of these. The documents database tells which documents are meant; they are searched by the
ids of their points.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from fnmatch import translate
from uuid import UUID

from iterative_rag.errors import CorpusError, NothingWithin
from iterative_rag.index.catalogue import CatalogueEntry, Points, no_document
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.vector_store import point_ids
from iterative_rag.remote.hosts import host_of
from iterative_rag.text.folding import plain_title
from iterative_rag.text.plurals import counted
from iterative_rag.types import FILE_DATE_KEY, Document, Hit, Within
from iterative_rag.types.documents import date_told

_LANGUAGE_KEYS = ("language", "lang")
# The hosts of Wikimedia's wikis name the language: de.wikipedia.org, zh-min-nan.m.wikipedia.org.
_WIKI_HOST = re.compile(r"(?!www\.)(?P<lang>[a-z]{2,3}(?:-[a-z-]+)?|simple)\.(?:m\.)?wik(?:i[a-z]+|tionary)\.org")
# Names that an error lists.
_SHOWN, _NAME_CHARS = 5, 60


def is_meant(entry: CatalogueEntry, wanted: Within) -> bool:
    """Whether a document is within this."""
    places = [entry.source, *([entry.url] if entry.url else [])]
    return (
        (not wanted.title or _pattern(plain_title(wanted.title)).search(plain_title(entry.title)) is not None)
        and (not wanted.source or any(_pattern(wanted.source).search(source) for source in places))
        and (not wanted.language or language_told(entry) == wanted.language.casefold())
        and (not wanted.since or _is_since(date_of(entry), wanted.since))
        and all(_holds(entry, *condition) for condition in wanted.conditions)
    )


def _is_since(date: str, since: str) -> bool:
    """Of a date that is known less exactly than what is asked for, the year or month decides."""
    return bool(date) and date >= since[: len(date)]


def _holds(entry: CatalogueEntry, key: str, wanted: str) -> bool:
    """Whether a value of this key is the one that is wanted, or matches it as a pattern; case does not matter."""
    values = [" ".join(value.split()) for known, value in entry.metadata if known.casefold() == key.casefold()]
    if "*" in wanted or "?" in wanted:
        return any(_pattern(wanted).search(value) for value in values)
    return " ".join(wanted.split()).casefold() in map(str.casefold, values)


def _pattern(text: str) -> re.Pattern[str]:
    """Finds `text` anywhere, or with `*` and `?` matches it as a pattern of the whole; case does not matter."""
    if "*" in text or "?" in text:
        return re.compile(rf"\A{translate(text)}", re.IGNORECASE)
    return re.compile(re.escape(text), re.IGNORECASE)


# --- what a document tells of itself ---------------------------------------------------------------


def language_of(url: str | None) -> str:
    """The language of a Wikimedia page, "" for any other; that of the Simple English Wikipedia is "simple"."""
    match = _WIKI_HOST.fullmatch(host_of(url or ""))
    return match["lang"] if match else ""


def date_of(entry: CatalogueEntry) -> str:
    """The date of a document, else that of its file (a year, month or day, ISO); "" for none."""
    return date_told(entry.metadata) or dict(entry.metadata).get(FILE_DATE_KEY, "")


def language_told(entry: CatalogueEntry) -> str:
    """The code of a document's language, from its metadata, its address or its words; "" where none tells it, as the
    words of an English document."""
    told = (value for key, value in entry.metadata if key.casefold() in _LANGUAGE_KEYS)
    return next(told, "").casefold() or language_of(entry.url) or entry.language


def known_keys(entries: Sequence[CatalogueEntry]) -> list[tuple[str, int]]:
    """The keys of metadata with how many documents have them; the most used first."""
    counts: Counter[str] = Counter()
    for entry in entries:
        counts.update({key for key, _ in entry.metadata if key != FILE_DATE_KEY})
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


# --- where nothing is within -----------------------------------------------------------------------


def nothing_within(
    corpus: str, wanted: Sequence[Within], entries: Sequence[CatalogueEntry], count: int | None = None
) -> NothingWithin:
    """The error that no document of a corpus, which has these, or `count` like them, is within all of these."""
    typed = " ".join(str(within) for within in wanted if within)
    title = next((within.title for within in wanted if within.title), "")
    titles = [entry.title for entry in entries]
    near = difflib.get_close_matches(title, titles, n=_SHOWN, cutoff=0.4) or titles
    told = f"Titles: {_listed(near)}." if title else f"Keys of their metadata: {_listed([*dict(known_keys(entries))])}."
    return NothingWithin(
        f"No document matches {typed}: nothing was searched.",
        hint=f"The corpus {corpus!r} has {counted(len(entries) if count is None else count, 'document')}. {told}",
    )


def _listed(names: Sequence[str]) -> str:
    shown = [name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…" for name in names[:_SHOWN]]
    return ", ".join(map(repr, shown)) + (", …" if len(names) > _SHOWN else "") or "none"


class CorpusPart:
    """Implements protocols.Corpus. Ranks as an index of these documents alone would. It is open as long as the corpus
    that it was made from. Raises CorpusError when one of the documents is not there."""

    def __init__(self, whole: IndexedCorpus, document_ids: Collection[str]) -> None:
        self.name, self._whole = whole.name, whole
        self._ids = frozenset(document_ids)
        self._known: tuple[list[Points], AbstractSet[UUID]] = ([], frozenset())
        self._asked = "\n".join(sorted(self._ids))
        missing = self._ids - {points.document_id for points in whole.points(self._ids)}
        if missing:
            raise no_document(whole.name, min(missing))

    @property
    def fingerprint(self) -> str:
        """Changes whenever a document of the whole corpus does; differs from that of every other part."""
        return f"{self._whole.fingerprint}/{hashlib.sha256(self._asked.encode()).hexdigest()[:16]}"

    @property
    def made_at(self) -> float:
        """When the whole corpus was made."""
        return self._whole.made_at

    @property
    def languages(self) -> dict[str, int]:
        """Those of the whole corpus, as far as they are known."""
        return self._whole.languages

    def search(self, queries: Sequence[str], limit: int) -> list[list[Hit]]:
        """The best `limit` passages of each query: dense + BM25, fused by reciprocal rank."""
        return self._whole.search(queries, limit, self._points()) if self._ids else [[] for _ in queries]

    def document(self, document_id: str) -> Document:
        """Raises CorpusError when this part does not hold it."""
        if document_id not in self._ids:
            raise CorpusError(
                f"The document {document_id!r} of the corpus {self.name!r} does not belong to the part that was asked.",
                hint="Ask a larger part, or read only what a search of this one has found.",
            )
        return self._whole.document(document_id)

    def close(self) -> None:
        """Does nothing: the caller closes the whole corpus."""

    def _points(self) -> AbstractSet[UUID]:
        """The points of the current versions, cached until a document changes."""
        current = self._whole.points(self._ids)
        if current != self._known[0]:
            self._known = (current, frozenset(point_ids(current)))
        return self._known[1]


class CorpusWithin(CorpusPart):
    """What of a corpus is within all of these; costs a look at every title. `whole` is pinned. Raises NothingWithin
    where nothing is within."""

    def __init__(self, whole: IndexedCorpus, wanted: Sequence[Within]) -> None:
        entries = whole.catalogue()
        chosen = [entry for entry in entries if all(is_meant(entry, within) for within in wanted)]
        if not chosen:
            raise nothing_within(whole.name, wanted, entries)
        super().__init__(whole, {entry.id for entry in chosen})
        self._wanted, self._asked = tuple(wanted), repr(tuple(wanted))
        self._titles, self._of = [entry.title for entry in chosen], counted(len(entries), "document")
        dated = any(within.since for within in wanted)
        self._undated = sum(not date_of(entry) for entry in entries) if dated else 0

    @property
    def notice(self) -> str:
        """Sentences for the user: that this is a part, and whether the corpus is incomplete."""
        typed = " ".join(str(within) for within in self._wanted if within)
        told = [f"Only a part of the corpus was searched: {typed} ({len(self._ids):,} of {self._of})."]
        if self._undated:
            told.append(f"Left out for having no date: {counted(self._undated, 'document')}.")
        return " ".join(filter(None, [*told, self._whole.notice]))

    def titles(self) -> list[str]:
        """The titles of the documents in this part, sorted; twice where two documents share one."""
        return list(self._titles)
