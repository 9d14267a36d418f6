"""What the metadata and the address of a document tell: its date and its language."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from iterative_rag.index.catalogue import CatalogueEntry
from iterative_rag.types import FILE_DATE_KEY

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
        if found := _ISO_DATE.match(held.get(key, "")):
            return found[0], False
    return held.get(FILE_DATE_KEY, ""), FILE_DATE_KEY in held


def language_told(entry: CatalogueEntry) -> str:
    """The code of a document's language, from its metadata, its address or its words; "" where none tells it, as the
    words of an English document."""
    told = (value for key, value in entry.metadata if key.casefold() in _LANGUAGE_KEYS)
    return next(told, "").casefold() or language_of(entry.url) or entry.language
