"""DuckDuckGo through the package `ddgs`, which parses its result pages: needs no key, but may stop working."""

from __future__ import annotations

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.protocols import SearchEngine
from iterative_rag.remote.disclosure import SEARCH_WORDS, announce
from iterative_rag.remote.server_calls import without_secrets
from iterative_rag.sources.search_engines.json_api import listed, plain
from iterative_rag.types import SearchResult

SECONDS = 15
_ANYWHERE = "wt-wt"  # no country's own results
_HINT = "Wait a while, or choose another --search-engine."


class DuckDuckGo:
    name = "duckduckgo"

    def __init__(self, *, seconds: int = SECONDS) -> None:
        """Raises MissingExtra, so that a run fails at its start."""
        try:
            import ddgs  # noqa: F401
        except ImportError as error:
            raise MissingExtra("web") from error
        self._seconds = seconds

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Never empty: the package does not tell a query without results from one that was refused."""
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException, RatelimitException, TimeoutException

        announce("https://duckduckgo.com", SEARCH_WORDS)
        try:
            # With "auto" the package would query a dozen engines that the user has not chosen.
            entries = DDGS(timeout=self._seconds).text(query, max_results=limit, region=_ANYWHERE, backend="duckduckgo")
        except RatelimitException as error:
            raise FetchError("DuckDuckGo limits our requests.", hint=_HINT, retryable=True, status=429) from error
        except TimeoutException as error:
            raise FetchError(
                f"DuckDuckGo did not reply within {self._seconds} s.", hint=_HINT, retryable=True
            ) from error
        except DDGSException as error:
            message = plain(without_secrets(str(error)), 200).rstrip(". ")
            raise FetchError(f"DuckDuckGo listed nothing: {message}.", hint=_HINT, retryable=True) from error
        if not entries:
            raise FetchError("DuckDuckGo listed nothing.", hint=_HINT, retryable=True)
        return listed("DuckDuckGo", entries, limit, url="href", snippet="body")


def build(address: str, user_agent: str) -> SearchEngine:
    return DuckDuckGo()
