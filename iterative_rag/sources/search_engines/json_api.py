"""Search engines by their names; their JSON APIs, called within limits; their results made safe to show."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from iterative_rag.errors import FetchError, UsageError
from iterative_rag.protocols import SearchEngine
from iterative_rag.registry import SEARCH_ENGINES
from iterative_rag.remote.hosts import SEARCH_WORDS
from iterative_rag.remote.server_calls import CallState
from iterative_rag.sources.web.page_client import PageResponse, fetch_errors
from iterative_rag.types import SearchResult

SECONDS = 20.0  # for one search
_WAIT = "Wait a while, or choose another --search-engine."


@dataclass(frozen=True, slots=True)
class JsonApi:
    """The API of an engine. `name` is used in messages; `hints` say what to do about a status.

    `key` goes into the Authorization header and nowhere else. Redirects are not followed: neither the key nor the query
    is for the host that one may point to.
    """

    name: str
    url: str
    user_agent: str
    hints: Mapping[int, str] = field(default_factory=dict)
    key: str = field(default="", repr=False)
    seconds: float = SECONDS

    def get(self, parameters: Mapping[str, str]) -> Mapping[str, Any]:
        """The JSON object that the API replies with. Raises FetchError."""
        return self._reply("GET", params=parameters)

    def post(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        """As `get`."""
        return self._reply("POST", json=body)

    def _reply(self, method: str, **content: Any) -> Mapping[str, Any]:
        import httpx

        call = CallState()
        call.ends = monotonic() + self.seconds
        headers = {"User-Agent": self.user_agent, "Accept": "application/json", "Accept-Encoding": "gzip"}
        options = call.http_options(self.url, key=self.key, what=SEARCH_WORDS)
        with (
            fetch_errors(self.name, self.seconds, _WAIT),
            httpx.Client(headers=headers, **options) as client,
            client.stream(method, self.url, **content) as response,
        ):
            body = response.read()  # within the limits of time and size that the options bring
            reply = PageResponse(self.url, response.status_code, dict(response.headers), body)
        if reply.status != 200:
            raise FetchError(
                f"{self.name} answered with status {reply.status}.",
                hint=self.hints.get(reply.status, _WAIT if reply.busy else "Check its address and what it requires."),
                retryable=reply.busy,
                retry_after=reply.retry_after if reply.busy else None,
                status=reply.status,
            )
        try:
            answer = json.loads(reply.body)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise FetchError(
                f"{self.name} sent something that is not a JSON object.",
                hint=self.hints.get(200, "Check that its address is that of the API."),
            )
        return answer


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
    results: dict[str, SearchResult] = {}
    for entry in (entry for entry in entries if isinstance(entry, dict)):
        address = _address(entry.get(url))
        if address and address not in results:
            title = plain(entry.get("title"), MAX_TITLE) or address
            results[address] = SearchResult(title, address, plain(entry.get(snippet), MAX_SNIPPET))
    if entries and not results:
        raise FetchError(f"{engine} sent results without addresses.", hint="Try another --search-engine.")
    return list(results.values())[:limit]


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


def search_engine(wanted: str, user_agent: str) -> SearchEngine:
    """Raises UsageError for an unknown engine, a wrong address or a missing key, MissingExtra for a missing package.

    Sends nothing. `user_agent` names us to servers.
    """
    name, separator, address = wanted.strip().partition("@")
    entry = SEARCH_ENGINES.get(name.lower())
    takes_address = entry is not None and "@" in entry.form
    if entry is None or (separator and not takes_address):
        # What follows "@" is not repeated: it may hold a password.
        raise UsageError(f"{name!r} is no search engine{' that takes an address' if separator else ''}.", hint=_hint())
    if takes_address and not separator and "[@" not in entry.form:
        raise UsageError(f"{entry.name} needs the address of a server.", hint=f"Say where: {entry.form}")
    build: Callable[[str, str], SearchEngine] = SEARCH_ENGINES.load(entry.name)
    return build(_checked(address) if separator else "", user_agent)


def _checked(address: str) -> str:
    """The address without a slash at its end. Raises UsageError."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - raises ValueError for a wrong one
    except ValueError as error:
        raise UsageError("The address of the search engine is not valid.", hint=_hint()) from error
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("The address of a search engine must not hold a user, a password or a query.", hint=_hint())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("The address of the search engine is not an http or https address.", hint=_hint())
    return address.rstrip("/")


def _hint() -> str:
    return f"Use {SEARCH_ENGINES.forms}."
