"""Search results made safe to show: an engine may send anything, and it is printed on a terminal."""

from __future__ import annotations

from urllib.parse import urlsplit

from iterative_rag.errors import FetchError
from iterative_rag.types import SearchResult

MAX_TITLE = 200
MAX_SNIPPET = 400
MAX_URL = 2000


def listed(
    engine: str, entries: object, limit: int, *, url: str = "url", snippet: str = "content"
) -> list[SearchResult]:
    """The first `limit` entries with a web address, each address once; `url` and `snippet` name their fields.

    Raises FetchError for anything but a list, and where none of the entries has an address.
    """
    if not isinstance(entries, list):
        raise FetchError(f"{engine} sent no list of results.", hint="Try again later, or another --search-engine.")
    found: dict[str, SearchResult] = {}
    for entry in (entry for entry in entries if isinstance(entry, dict)):
        address = _address(entry.get(url))
        if address and address not in found:
            title = plain(entry.get("title"), MAX_TITLE) or address
            found[address] = SearchResult(title, address, plain(entry.get(snippet), MAX_SNIPPET))
    if entries and not found:
        raise FetchError(f"{engine} sent results without addresses.", hint="Try another --search-engine.")
    return list(found.values())[:limit]


def plain(text: object, limit: int) -> str:
    """One line of at most `limit` characters, without control characters; "" for anything but text."""
    if not isinstance(text, str):
        return ""
    shown = "".join(char if char.isprintable() else " " for char in text[: 4 * limit])
    return " ".join(shown.split())[:limit].rstrip()


def _address(value: object) -> str:
    """An http(s) address without its fragment; "" for anything else. Fetching it checks whether it is public."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > MAX_URL:
        return ""
    address = value.strip().partition("#")[0]
    try:
        parts = urlsplit(address)
        fetchable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0  # or a ValueError
        return address if fetchable else ""
    except ValueError:
        return ""
