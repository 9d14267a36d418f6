"""Wikipedia's own search, or that of any other MediaWiki (Action API, generator=search).

https://www.mediawiki.org/wiki/API:Search
"""

from __future__ import annotations

from typing import Any

from iterative_rag.errors import FetchError
from iterative_rag.protocols import SearchEngine
from iterative_rag.sources.search_engines.json_api import SECONDS, JsonApi, listed
from iterative_rag.types import SearchResult

API = "https://en.wikipedia.org/w/api.php"
MAX_QUERY = 300  # characters
_EXTRA = 5  # more results are requested, because some may be disambiguation pages
_HINTS = {
    200: "Check that this is the address of a MediaWiki API; it ends in api.php.",
    403: "Wikimedia refuses robots that name no contact: iterative-rag corpus fetch ... --contact you@example.org",
    404: "Check the address of the API; it ends in api.php.",
}


class Wikipedia:
    """`api` ends in api.php. `user_agent` names a contact, as the wikis ask of robots."""

    def __init__(self, user_agent: str, *, api: str = API, seconds: float = SECONDS) -> None:
        self.api = api
        name = "Wikipedia" if api == API else f"The wiki at {api}"
        self._client = JsonApi(name, api, user_agent, _HINTS, seconds=seconds)

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
                "gsrsearch": query[:MAX_QUERY],
                "gsrnamespace": "0",
                "gsrlimit": str(limit + _EXTRA),
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


def build(address: str, user_agent: str) -> SearchEngine:
    return Wikipedia(user_agent, api=address or API)


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
        raise FetchError(f"{name} sent no list of pages.", hint=_HINTS[200])
    records = [page for page in pages if isinstance(page, dict)]
    return sorted(records, key=lambda page: index if isinstance(index := page.get("index"), int) else len(records))
