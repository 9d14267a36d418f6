"""How we introduce ourselves to servers: a User-Agent with a contact, as the wikis ask of robots."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from iterative_rag.errors import CorpusError, UsageError
from iterative_rag.system.files import disk_full, is_no_room

ROBOT = "iterative-rag"  # the name that a robots.txt calls us by
_HINT = "Give a mail address or a web page of yours: --contact you@example.org"
_CONTACT = re.compile(r"https?://[^\s()]+|[^\s()@]+@[^\s()@]+")


def user_agent(contact: str) -> str:
    """How we introduce ourselves. Raises UsageError where `contact` is neither a mail address nor a URL."""
    if not contact:
        raise UsageError("Wikipedia asks robots to name a contact.", hint=_HINT)
    return agent_of(contact)


def agent_of(contact: str) -> str:
    """The same for servers that ask for no contact: it may be ""."""
    import httpx

    from iterative_rag import __version__

    if contact and not _CONTACT.fullmatch(contact.strip()):
        raise UsageError(f"{contact!r} is no contact.", hint=_HINT)
    named = f" ({contact.strip()})" if contact else ""
    return f"{ROBOT}/{__version__}{named} httpx/{httpx.__version__}"


def remembered_contact(given: str, place: Path) -> str:
    """The contact that is given, which the file keeps for the next time; else that of last time or the project's own.

    Raises UsageError for what is no contact, CorpusError where it cannot be written down.
    """
    if not given:
        try:
            return place.read_text(encoding="utf-8").strip() or homepage()
        except (OSError, UnicodeDecodeError):
            return homepage()
    agent_of(given)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(given.strip() + "\n", encoding="utf-8")
    except OSError as error:
        if is_no_room(error):
            raise disk_full(place) from error
        raise CorpusError(f"{place} cannot be written: {error.strerror}.", hint="Check the folder.") from error
    return given.strip()


def homepage() -> str:
    """The project's own page as its packaging names it: a contact where the user gives none."""
    try:
        urls = metadata.metadata("iterative-rag").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    return next((url.partition(",")[2].strip() for url in urls if url.lower().startswith("homepage")), "")
