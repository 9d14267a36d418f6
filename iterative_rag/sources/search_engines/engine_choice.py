"""From the setting `search_engine` to an engine."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from iterative_rag.errors import UsageError
from iterative_rag.protocols import SearchEngine
from iterative_rag.registry import SEARCH_ENGINES


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
