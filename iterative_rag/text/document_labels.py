"""The title, address and source of a text, guessed from what other programs have noted about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any
from urllib.parse import unquote, urlsplit

_TITLES = ("title", "document_title", "page_title", "doc_title", "headline", "subject", "name")
_FILES = ("file_path", "file_name", "filename", "path")
_ADDRESSES = ("url", "source_url", "page_url", "link", "web_url", "source", "uri")
_PAGES = ("page_label", "page_number", "page")
# What tells where a text comes from, most exact first.
_SOURCES = ("file_path", "path", "source", "file_name", "filename")
# Longer ones are sentences.
_TITLE_CHARS = 120
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")
# Where the subject of an article's first sentence ends.
_SUBJECT_END = re.compile(r"\s+\(|,|\s+(?:is|was|are|were)\s|[.:;!?](?:\s|$)|\n")


@dataclass(frozen=True, slots=True)
class DocumentLabels:
    """`source` is "" where nothing tells it, `url` None where no web address is noted; `page` is that of a file."""

    title: str
    source: str
    url: str | None
    page: str


def labels_of(metadata: Mapping[str, Any], text: str, *, title_key: str = "", url_key: str = "") -> DocumentLabels:
    """The labels of a text with these notes; the keys that the caller names come before those that are usual."""
    lowered = {str(key).lower(): value for key, value in metadata.items()}
    page = _first(lowered, _PAGES)
    url = _web_address(lowered, (url_key.lower(), *_ADDRESSES) if url_key else _ADDRESSES)
    title = _first(lowered, (title_key.lower(), *_TITLES) if title_key else _TITLES)
    if not title:
        file = _first(lowered, _FILES)
        title = PurePath(file).stem.replace("_", " ") if file else ""
        title = f"{title}, page {page}" if title and page else title
    if not title and url:
        title = unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]).replace("_", " ")
    return DocumentLabels(_line(title) or _beginning(text), _first(lowered, _SOURCES) or url or "", url, page)


def _first(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    values = (metadata.get(key) for key in keys)
    return next((str(value).strip() for value in values if isinstance(value, str | int) and str(value).strip()), "")


def _web_address(metadata: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    values = (metadata.get(key) for key in keys)
    return next((link for link in values if isinstance(link, str) and link.startswith(("http://", "https://"))), None)


def _beginning(text: str) -> str:
    """The first heading, or the subject of the first sentence ("Berlin (...) is the capital" -> "Berlin")."""
    start = text.lstrip()[: 2 * _TITLE_CHARS]
    if heading := _HEADING.match(start):
        return _line(heading[1])
    return _line(_SUBJECT_END.split(start, maxsplit=1)[0])


def _line(text: str) -> str:
    shown = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(shown.split())[:_TITLE_CHARS].strip()
