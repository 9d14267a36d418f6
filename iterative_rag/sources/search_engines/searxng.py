"""A SearXNG server, which queries many engines and keeps no record of its users.

https://docs.searxng.org/dev/search_api.html; its settings.yml must allow the format json.
"""

from __future__ import annotations

from iterative_rag.errors import FetchError
from iterative_rag.protocols import SearchEngine
from iterative_rag.sources.search_engines.json_api import SECONDS, JsonApi, listed, plain
from iterative_rag.types import SearchResult

_JSON = "Allow JSON in the server's settings.yml: search: formats: [html, json]"
_HINTS = {
    200: _JSON,
    403: _JSON,
    404: "Give the server's own address, without /search: searxng@http://HOST:8888",
    429: "The server limits our requests: allow this machine in its limiter.toml, or wait.",
}


class SearXNG:
    """The server at `url`. The address is the user's own choice and may be private, like that of an Ollama server."""

    def __init__(self, user_agent: str, *, url: str, seconds: float = SECONDS) -> None:
        self.url = url
        self._client = JsonApi(f"SearXNG at {url}", f"{url}/search", user_agent, _HINTS, seconds=seconds)

    @property
    def name(self) -> str:
        return f"searxng@{self.url}"

    def search(self, query: str, limit: int) -> list[SearchResult]:
        """Raises FetchError also where there are no results because the engines behind the server did not reply."""
        answer = self._client.get({"q": query, "format": "json", "categories": "general"})
        results = listed(self._client.name, answer.get("results"), limit)
        silent = answer.get("unresponsive_engines")
        if not results and silent:
            raise FetchError(
                f"The engines behind {self._client.name} did not answer: {_shown(silent)}.",
                hint="Wait a while, or enable others in the server's settings.yml.",
                retryable=True,
            )
        return results


def build(address: str, user_agent: str) -> SearchEngine:
    return SearXNG(user_agent, url=address.removesuffix("/search"))


def _shown(silent: object) -> str:
    """[["name", "reason"], ...] as "name (reason), ..."."""
    rows = silent if isinstance(silent, list) else []
    pairs = [[plain(part, 60) for part in row] for row in rows[:5] if isinstance(row, list)]
    return ", ".join(f"{row[0]} ({row[1]})" if len(row) > 1 else row[0] for row in pairs if row) or "no reason given"
