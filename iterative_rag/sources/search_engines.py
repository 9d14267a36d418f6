"""Web search engines behind one protocol, each called within limits, its results made safe to show: DuckDuckGo,
SearXNG, Tavily, and the search of Wikipedia or of any other MediaWiki. None is used unless the user says so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from iterative_rag.errors import FetchError, MissingExtra, UsageError
from iterative_rag.protocols import SearchEngine
from iterative_rag.registry import SEARCH_ENGINES
from iterative_rag.remote.api_keys import find
from iterative_rag.remote.hosts import SEARCH_WORDS, announce
from iterative_rag.remote.server_calls import CallState, without_secrets
from iterative_rag.sources.web.page_client import PageResponse, fetch_errors, is_fetchable, status_error
from iterative_rag.system.files import json_value
from iterative_rag.types import SearchResult
from iterative_rag.types.documents import as_field

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
            hint = _WAIT if reply.busy else "Check its address and what it requires."
            raise status_error(reply, self.hints, self.name, hint)
        try:
            answer = json_value(reply.body)
        except ValueError:
            answer = None
        if not isinstance(answer, dict):
            message = f"{self.name} sent something that is not a JSON object."
            raise FetchError(message, hint=self.hints.get(200, "Check that its address is that of the API."))
        return answer


MAX_TITLE = 200
MAX_SNIPPET = 400
MAX_URL = 2000


def listed(
    engine: str, entries: object, limit: int, *, url: str = "url", snippet: str = "content"
) -> list[SearchResult]:
    """The first `limit` entries with a web address, each address once; `url` and `snippet` name their fields. Raises
    FetchError for anything but a list, and where none of the entries has an address."""
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
    return " ".join(as_field(text[: 4 * limit]).split())[:limit].rstrip()


def _address(value: object) -> str:
    """An http(s) address without its fragment; "" for anything else."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > MAX_URL:
        return ""
    address = value.strip().partition("#")[0]
    return address if is_fetchable(address) else ""


def search_engine(wanted: str, user_agent: str) -> SearchEngine:
    """Raises UsageError for an unknown engine, a wrong address or a missing key, MissingExtra for a missing package.
    Sends nothing. `user_agent` names us to servers."""
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
    if not is_fetchable(address):
        raise UsageError("The address of the search engine is not a valid http or https address.", hint=_hint())
    parts = urlsplit(address)
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("The address of a search engine must not hold a user, a password or a query.", hint=_hint())
    return address.rstrip("/")


def _hint() -> str:
    return f"Use {SEARCH_ENGINES.forms}."


# --- DuckDuckGo, through the package `ddgs`, which parses its result pages -----------------------

_DDG_SECONDS = 15
_ANYWHERE = "wt-wt"  # no country's own results


class DuckDuckGo:
    name = "duckduckgo"

    def __init__(self, address: str = "", user_agent: str = "") -> None:
        """Raises MissingExtra, so that a run fails at its start."""
        try:
            import ddgs  # noqa: F401
        except ImportError as error:
            raise MissingExtra("web") from error

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Never empty: the package does not tell a query without results from one that was refused."""
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException

        announce("https://duckduckgo.com", SEARCH_WORDS)
        try:
            # With "auto" the package would query a dozen engines that the user has not chosen.
            entries = DDGS(timeout=_DDG_SECONDS).text(query, max_results=limit, region=_ANYWHERE, backend="duckduckgo")
        except DDGSException as error:
            message = plain(without_secrets(str(error)), 200).rstrip(". ")
            status = 429 if isinstance(error, RatelimitException) else None
            text = f"DuckDuckGo listed nothing: {message}."
            raise FetchError(text, hint=_WAIT, retryable=True, status=status) from error
        if not entries:
            raise FetchError("DuckDuckGo listed nothing.", hint=_WAIT, retryable=True)
        return listed("DuckDuckGo", entries, limit, url="href", snippet="body")


# --- SearXNG, which queries many engines and keeps no record of its users -------------------------

# https://docs.searxng.org/dev/search_api.html
_JSON = "Allow JSON in the server's settings.yml: search: formats: [html, json]"
_SEARXNG_HINTS = {
    200: _JSON,
    403: _JSON,
    404: "Give the server's own address, without /search: searxng@http://HOST:8888",
    429: "The server limits our requests: allow this machine in its limiter.toml, or wait.",
}


class SearXNG:
    """The server at an address, which is the user's own choice and may be private, like that of an Ollama server."""

    def __init__(self, address: str, user_agent: str, *, seconds: float = SECONDS) -> None:
        self.url = address.removesuffix("/search")
        self.name = f"searxng@{self.url}"
        told = f"SearXNG at {self.url}"
        self._client = JsonApi(told, f"{self.url}/search", user_agent, _SEARXNG_HINTS, seconds=seconds)

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Raises FetchError also where there are no results because the engines behind the server did not reply."""
        answer = self._client.get({"q": query, "format": "json", "categories": "general"})
        results = listed(self._client.name, answer.get("results"), limit)
        if not results and answer.get("unresponsive_engines"):
            hint = "Wait a while, or enable others in the server's settings.yml."
            raise FetchError(f"The engines behind {self._client.name} did not answer.", hint=hint, retryable=True)
        return results


# --- Tavily, a paid API: https://docs.tavily.com/documentation/api-reference/endpoint/search -----

TAVILY_API = "https://api.tavily.com/search"
TAVILY_KEY = "TAVILY_API_KEY"
_TAVILY_QUERY = 400  # characters
_PLAN_LIMIT = "The plan's limit is reached: raise it at app.tavily.com, or choose another --search-engine."
_TAVILY_HINTS = {
    401: f"Set {TAVILY_KEY} to a valid key.",
    403: f"Set {TAVILY_KEY} to a valid key.",
    432: _PLAN_LIMIT,
    433: _PLAN_LIMIT,
}


class Tavily:
    """The key is kept out of every message, and sent to the API at `address` alone."""

    name = "tavily"

    def __init__(self, address: str, user_agent: str, *, seconds: float = SECONDS) -> None:
        """Raises UsageError without a key that can be sent there."""
        api = address or TAVILY_API
        key = find(api, self.name)
        if not key.value:
            hint = f"Set {TAVILY_KEY}, or choose another --search-engine."
            raise UsageError(key.withheld or "Tavily needs a key.", hint=hint)
        self._client = JsonApi("Tavily", api, user_agent, _TAVILY_HINTS, key=key.value, seconds=seconds)

    def search(self, query: str, limit: int) -> list[SearchResult]:
        asked = {"query": query[:_TAVILY_QUERY], "max_results": limit, "search_depth": "basic"}
        answer = self._client.post(asked)
        return listed(self._client.name, answer.get("results"), limit)


# --- MediaWiki: https://www.mediawiki.org/wiki/API:Search ------------------------------------------

API = "https://en.wikipedia.org/w/api.php"
_WIKI_QUERY = 300  # characters
_MORE = 5  # more results are requested, because some may be disambiguation pages
_WIKI_HINTS = {
    200: "Check that this is the address of a MediaWiki API; it ends in api.php.",
    403: "Wikimedia refuses robots that name no contact: iterative-rag corpus fetch ... --contact you@example.org",
    404: "Check the address of the API; it ends in api.php.",
}


class Wikipedia:
    """The address ends in api.php. `user_agent` names a contact, as the wikis ask of robots."""

    def __init__(self, address: str, user_agent: str, *, seconds: float = SECONDS) -> None:
        self.api = api = address or API
        self.name, told = ("wikipedia", "Wikipedia") if api == API else (f"wikipedia@{api}", f"The wiki at {api}")
        self._client = JsonApi(told, api, user_agent, _WIKI_HINTS, seconds=seconds)

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Articles, without pages that only list what a title may mean."""
        asked = {"action": "query", "format": "json", "formatversion": "2", "generator": "search", "gsrnamespace": "0"}
        asked |= {"gsrsearch": query[:_WIKI_QUERY], "gsrlimit": str(limit + _MORE)}
        asked |= {"prop": "info|pageprops|extracts", "inprop": "url", "ppprop": "disambiguation"}
        asked |= {"exintro": "1", "explaintext": "1", "exsentences": "2", "exlimit": "max"}
        answer = self._client.get(asked)
        pages = _pages(answer, self._client.name)
        articles = [page for page in pages if "disambiguation" not in (page.get("pageprops") or {})]
        return listed(self._client.name, articles, limit, url="canonicalurl", snippet="extract")


def _pages(answer: Any, name: str) -> list[dict[str, Any]]:
    """The pages in the order of the search. API errors have status 200; without results there is no `query`."""
    if isinstance(fault := answer.get("error"), dict):
        code = str(fault.get("code", ""))[:60]
        message = f"{name} refused the search ({code})."
        raise FetchError(message, hint="Try again later.", retryable=code in ("maxlag", "ratelimited"))
    query = answer.get("query", {} if "batchcomplete" in answer else None)
    pages = query.get("pages", []) if isinstance(query, dict) else None
    if not isinstance(pages, list):
        raise FetchError(f"{name} sent no list of pages.", hint=_WIKI_HINTS[200])
    records = [page for page in pages if isinstance(page, dict)]
    return sorted(records, key=lambda page: index if isinstance(index := page.get("index"), int) else len(records))
