"""From the setting `search_engine` to an engine."""

from __future__ import annotations

from urllib.parse import urlsplit

from iterative_rag.errors import UsageError
from iterative_rag.protocols import SearchEngine

FORMS = "Use wikipedia, wikipedia@https://HOST/w/api.php, duckduckgo, tavily or searxng@http://HOST:8888."


def search_engine(wanted: str, user_agent: str) -> SearchEngine:
    """Raises UsageError for what names no engine or lacks its key, MissingExtra where a package is missing.

    Nothing is asked of the network. `user_agent` is how we introduce ourselves to servers.
    """
    name, marker, address = wanted.strip().partition("@")
    match name.lower(), bool(marker):
        case "wikipedia", with_address:
            from iterative_rag.search_engines.mediawiki import Wikipedia

            return Wikipedia(user_agent, api=_checked(address)) if with_address else Wikipedia(user_agent)
        case "searxng", True:
            from iterative_rag.search_engines.searxng import SearXNG

            return SearXNG(user_agent, url=_checked(address).removesuffix("/search"))
        case "searxng", False:
            raise UsageError("SearXNG is a server of your own choice.", hint="Say where: searxng@http://HOST:8888")
        case "duckduckgo", False:
            from iterative_rag.search_engines.duckduckgo import DuckDuckGo

            return DuckDuckGo()
        case "tavily", False:
            from iterative_rag.search_engines.tavily import Tavily

            return Tavily(user_agent)
    # What stands behind "@" is not echoed: it may hold a password.
    raise UsageError(f"{name!r} is no search engine{' that takes an address' if marker else ''}.", hint=FORMS)


def _checked(address: str) -> str:
    """The address without a slash at its end. Raises UsageError."""
    try:
        parts = urlsplit(address)
        parts.port  # noqa: B018 - it is looked at here, so that a wrong one is told here
    except ValueError as error:
        raise UsageError("The address of the search engine is not valid.", hint=FORMS) from error
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise UsageError("The address of a search engine must not hold a user, a password or a query.", hint=FORMS)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError("The address of the search engine is no http or https address.", hint=FORMS)
    return address.rstrip("/")
