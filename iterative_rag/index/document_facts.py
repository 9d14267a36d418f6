"""What the metadata and the address of a document tell, and what to tell where no document is within a part."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from iterative_rag.errors import NothingWithin
from iterative_rag.index.catalogue import CatalogueEntry
from iterative_rag.text.plurals import counted
from iterative_rag.types import COLUMN_KEY, FILE_DATE_KEY, Within

# The keys of metadata that hold the date of a document; the first that it has counts.
DATE_KEYS = ("date", "updated", "modified", "lastmod", "published", "created")
_LANGUAGE_KEYS = ("language", "lang")
# The hosts of Wikimedia's wikis name the language: de.wikipedia.org, zh-min-nan.m.wikipedia.org.
_WIKI_HOST = re.compile(r"(?!www\.)(?P<lang>[a-z]{2,3}(?:-[a-z-]+)?|simple)\.(?:m\.)?wik(?:i[a-z]+|tionary)\.org")
_ISO_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?!\d)")


def language_of(url: str | None) -> str:
    """The language of a Wikimedia page, "" for any other; that of the Simple English Wikipedia is "simple"."""
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:
        return ""
    match = _WIKI_HOST.fullmatch(host)
    return match["lang"] if match else ""


def date_of(entry: CatalogueEntry) -> tuple[str, bool]:
    """The date of a document (a year, month or day, ISO; "" for none), and whether it is only that of its file."""
    held = {key.casefold(): value for key, value in reversed(entry.metadata)}
    for key in DATE_KEYS:
        if match := _ISO_DATE.match(held.get(key, "")):
            return match[0], False
    return held.get(FILE_DATE_KEY, ""), FILE_DATE_KEY in held


def language_told(entry: CatalogueEntry) -> str:
    """The code of a document's language, from its metadata, its address or its words; "" where none tells it, as the
    words of an English document."""
    told = (value for key, value in entry.metadata if key.casefold() in _LANGUAGE_KEYS)
    return next(told, "").casefold() or language_of(entry.url) or entry.language


_SHOWN = 5
_NAME_CHARS = 60


def empty_part(corpus: str, wanted: Sequence[Within], entries: Sequence[CatalogueEntry]) -> NothingWithin:
    typed = " ".join(str(within) for within in wanted if within)
    what = "No passage" if any(within.section for within in wanted) else "No document"
    return NothingWithin(
        f"{what} matches {typed}: nothing was searched.",
        hint=f"The corpus {corpus!r} has {counted(len(entries), 'document')}. {_there_is(wanted, entries)}",
    )


def known_keys(entries: Sequence[CatalogueEntry]) -> list[tuple[str, int]]:
    """The keys of metadata, and the columns of table files, with how many documents have them; the most used first."""
    counts: Counter[str] = Counter()
    for entry in entries:
        counts.update({value if key == COLUMN_KEY else key for key, value in entry.metadata if key != FILE_DATE_KEY})
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _there_is(wanted: Sequence[Within], entries: Sequence[CatalogueEntry]) -> str:
    """What there is instead, for the first of the conditions that can tell it."""
    for within in wanted:
        if within.where:
            return _values_or_keys(within.conditions[0][0], entries)
        if within.title:
            titles = [entry.title for entry in entries]
            near = difflib.get_close_matches(within.title, titles, n=_SHOWN, cutoff=0.4)
            return f"Titles {'near it' if near else 'such as'}: {_listed(near or titles)}."
        if within.source:
            return f"Sources such as: {_listed([entry.source for entry in entries])}."
        if within.language:
            codes = sorted(filter(None, {language_told(entry) for entry in entries}))
            return f"Languages: {_listed(codes)}." if codes else "None of them tells its language."
        if within.since:
            newest = max((date_of(entry)[0] for entry in entries), default="")
            return f"The newest is of {newest}." if newest else "None of them has a date."
    return "iterative-rag show TITLE prints a document with its headings."


def _values_or_keys(asked: str, entries: Sequence[CatalogueEntry]) -> str:
    """The values of a key; where there is none, the keys that there are."""
    pairs = (pair for entry in entries for pair in entry.metadata)
    held = Counter(value for key, value in pairs if key.casefold() == asked.casefold())
    if held:
        return f"Values of {asked}: {_listed([value for value, _ in held.most_common()])}."
    keys = [key for key, _ in known_keys(entries)]
    return f"Its keys: {_listed(keys)}." if keys else "Its documents have no metadata."


def _listed(names: Sequence[str]) -> str:
    shown = [name if len(name) <= _NAME_CHARS else f"{name[: _NAME_CHARS - 1]}…" for name in names[:_SHOWN]]
    return ", ".join(map(repr, shown)) + (", …" if len(names) > _SHOWN else "")
