"""Tavily, a paid search API: https://docs.tavily.com/documentation/api-reference/endpoint/search"""

from __future__ import annotations

import os

from iterative_rag.errors import UsageError
from iterative_rag.protocols import SearchEngine
from iterative_rag.sources.search_engines.json_api import SECONDS, JsonApi, listed
from iterative_rag.types import SearchResult

API = "https://api.tavily.com/search"
KEY = "TAVILY_API_KEY"
MAX_QUERY = 400  # characters
_LIMIT = "The plan's limit is reached: raise it at app.tavily.com, or choose another --search-engine."
_HINTS = {
    401: f"Set {KEY} to a valid key.",
    403: f"Set {KEY} to a valid key.",
    432: _LIMIT,
    433: _LIMIT,
}


class Tavily:
    """The key is read from the environment, kept out of every message, and sent to `api` alone."""

    name = "tavily"

    def __init__(self, user_agent: str, *, api: str = API, seconds: float = SECONDS) -> None:
        """Raises UsageError without a key."""
        self._client = JsonApi("Tavily", api, user_agent, _HINTS, key=_key(), seconds=seconds)

    def search(self, query: str, limit: int) -> list[SearchResult]:
        answer = self._client.post({"query": query[:MAX_QUERY], "max_results": limit, "search_depth": "basic"})
        return listed(self._client.name, answer.get("results"), limit)


def _key() -> str:
    key = os.environ.get(KEY, "").strip()
    if not key:
        raise UsageError("Tavily needs a key.", hint=f"Set {KEY}, or choose another --search-engine.")
    if not key.isascii() or not key.isprintable() or " " in key:
        # The HTTP library would quote it in its error message.
        raise UsageError(f"The value of {KEY} cannot be a key.", hint="Copy it again from app.tavily.com.")
    return key


def build(address: str, user_agent: str) -> SearchEngine:
    return Tavily(user_agent)
