"""The engines that speak JSON, and results about lamps."""

from __future__ import annotations

from collections.abc import Callable

from iterative_rag.protocols import SearchEngine
from iterative_rag.sources.search_engines import SearXNG, Tavily, Wikipedia

AGENT = "tests/1 (tests@example.org)"
KEY = "tvly-Zm9vYmFyNotForAnyEye"
ENGINES: dict[str, Callable[[str], SearchEngine]] = {
    "wikipedia": lambda url: Wikipedia(f"{url}/w/api.php", AGENT, seconds=5),
    "searxng": lambda url: SearXNG(url, AGENT, seconds=5),
    "tavily": lambda url: Tavily(f"{url}/search", AGENT, seconds=5),
}
LAMPS = [("The lamp of Gull Point", "https://lamps.example/gull"), ("Lamps", "https://lamps.example/")]
