"""The engines: DuckDuckGo, SearXNG, Tavily, and the search of Wikipedia or of any other MediaWiki."""

from __future__ import annotations

import os
from typing import Any

from iterative_rag.errors import FetchError, MissingExtra, UsageError
from iterative_rag.remote.hosts import SEARCH_WORDS, announce
from iterative_rag.remote.server_calls import without_secrets
from iterative_rag.sources.search_engines.json_api import SECONDS, JsonApi, listed, plain
from iterative_rag.types import SearchResult

# --- DuckDuckGo, through the package `ddgs`, which parses its result pages -----------------------

_DDG_SECONDS = 15
_ANYWHERE = "wt-wt"  # no country's own results
_DDG_HINT = "Wait a while, or choose another --search-engine."


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
            raise FetchError(
                f"DuckDuckGo listed nothing: {message}.", hint=_DDG_HINT, retryable=True, status=status
            ) from error
        if not entries:
            raise FetchError("DuckDuckGo listed nothing.", hint=_DDG_HINT, retryable=True)
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
        name = f"SearXNG at {self.url}"
        self._client = JsonApi(name, f"{self.url}/search", user_agent, _SEARXNG_HINTS, seconds=seconds)

    @property
    def name(self) -> str:
        return f"searxng@{self.url}"

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Raises FetchError also where there are no results because the engines behind the server did not reply."""
        answer = self._client.get({"q": query, "format": "json", "categories": "general"})
        results = listed(self._client.name, answer.get("results"), limit)
        if not results and answer.get("unresponsive_engines"):
            raise FetchError(
                f"The engines behind {self._client.name} did not answer.",
                hint="Wait a while, or enable others in the server's settings.yml.",
                retryable=True,
            )
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
    """The key is read from the environment, kept out of every message, and sent to the API at `address` alone."""

    name = "tavily"

    def __init__(self, address: str, user_agent: str, *, seconds: float = SECONDS) -> None:
        """Raises UsageError without a key."""
        api = address or TAVILY_API
        self._client = JsonApi("Tavily", api, user_agent, _TAVILY_HINTS, key=_key(), seconds=seconds)

    def search(self, query: str, limit: int) -> list[SearchResult]:
        answer = self._client.post({"query": query[:_TAVILY_QUERY], "max_results": limit, "search_depth": "basic"})
        return listed(self._client.name, answer.get("results"), limit)


def _key() -> str:
    key = os.environ.get(TAVILY_KEY, "").strip()
    if not key:
        raise UsageError("Tavily needs a key.", hint=f"Set {TAVILY_KEY}, or choose another --search-engine.")
    if not key.isascii() or not key.isprintable() or " " in key:
        # The HTTP library would quote it in its error message.
        raise UsageError(f"The value of {TAVILY_KEY} cannot be a key.", hint="Copy it again from app.tavily.com.")
    return key


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
        self.api = address or API
        name = "Wikipedia" if self.api == API else f"The wiki at {self.api}"
        self._client = JsonApi(name, self.api, user_agent, _WIKI_HINTS, seconds=seconds)

    @property
    def name(self) -> str:
        return "wikipedia" if self.api == API else f"wikipedia@{self.api}"

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Articles, without pages that only list what a title may mean."""
        answer = self._client.get(
            {
                "action": "query",
                "format": "json",
                "formatversion": "2",
                "generator": "search",
                "gsrsearch": query[:_WIKI_QUERY],
                "gsrnamespace": "0",
                "gsrlimit": str(limit + _MORE),
                "prop": "info|pageprops|extracts",
                "inprop": "url",
                "ppprop": "disambiguation",
                "exintro": "1",
                "explaintext": "1",
                "exsentences": "2",
                "exlimit": "max",
            }
        )
        pages = _pages(answer, self._client.name)
        articles = [page for page in pages if "disambiguation" not in (page.get("pageprops") or {})]
        return listed(self._client.name, articles, limit, url="canonicalurl", snippet="extract")


def _pages(answer: Any, name: str) -> list[dict[str, Any]]:
    """The pages in the order of the search. API errors have status 200; without results there is no `query`."""
    if isinstance(fault := answer.get("error"), dict):
        code = str(fault.get("code", ""))[:60]
        raise FetchError(
            f"{name} refused the search ({code}).", hint="Try again later.", retryable=code in ("maxlag", "ratelimited")
        )
    query = answer.get("query", {} if "batchcomplete" in answer else None)
    pages = query.get("pages", []) if isinstance(query, dict) else None
    if not isinstance(pages, list):
        raise FetchError(f"{name} sent no list of pages.", hint=_WIKI_HINTS[200])
    records = [page for page in pages if isinstance(page, dict)]
    return sorted(records, key=lambda page: index if isinstance(index := page.get("index"), int) else len(records))
