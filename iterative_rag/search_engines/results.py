"""What an engine lists, made safe to show: it may hold anything, and it ends on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from iterative_rag.errors import FetchError
from iterative_rag.types import SearchResult

MOST_TITLE = 200
MOST_SNIPPET = 400
MOST_URL = 2000


def listed(
    engine: str, entries: object, limit: int, *, url: str = "url", snippet: str = "content"
) -> list[SearchResult]:
    """The first `limit` entries that name a web address, each address once; `url` and `snippet` are their fields.

    Raises FetchError for what is no list, and where not one of several entries has an address.
    """
    if not isinstance(entries, list):
        raise FetchError(f"{engine} sent no list of results.", hint="Try again later, or another --search-engine.")
    found: dict[str, SearchResult] = {}
    for entry in _mappings(entries):
        address = _address(entry.get(url))
        if address and address not in found:
            title = plain(entry.get("title"), MOST_TITLE) or address
            found[address] = SearchResult(title, address, plain(entry.get(snippet), MOST_SNIPPET))
    if entries and not found:
        raise FetchError(f"{engine} sent results without addresses.", hint="Try another --search-engine.")
    return list(found.values())[:limit]


def plain(text: object, most: int) -> str:
    """One line of at most `most` characters, without control characters; "" for what is no text."""
    if not isinstance(text, str):
        return ""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * most])
    return " ".join(shown.split())[:most].rstrip()


def _mappings(entries: Iterable[object]) -> Iterable[Mapping[str, Any]]:
    return (entry for entry in entries if isinstance(entry, dict))


def _address(value: object) -> str:
    """An http(s) address without its fragment; "" for anything else. Whether it is public is checked on fetching."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > MOST_URL:
        return ""
    address = value.strip().partition("#")[0]
    try:
        parts = urlsplit(address)
        fetchable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0  # or a ValueError
        return address if fetchable else ""
    except ValueError:
        return ""
