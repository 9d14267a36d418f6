"""The User-Agent: it names a contact, as the wikis ask of robots."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

from iterative_rag.errors import UsageError
from iterative_rag.settings import home
from iterative_rag.system.files import readable, unwritable

ROBOT = "iterative-rag"  # our name in a robots.txt
_OPTION = "--contact you@example.org"
_HINT = f"Give a mail address or a web page of yours: {_OPTION}"
_CONTACT = re.compile(r"https?://[^\s()]+|[^\s()@]+@[^\s()@]+")


def user_agent(contact: str, *, required: bool = True) -> str:
    """The User-Agent header. Raises UsageError where `contact` is missing, or neither a mail address nor a URL."""
    import httpx

    from iterative_rag import __version__

    contact = contact.strip()
    if required and not contact:
        raise UsageError("Wikipedia asks robots to name a contact.", hint=_HINT, option=_OPTION)
    if contact and not _CONTACT.fullmatch(contact):
        raise UsageError(f"{contact!r} is neither a mail address nor a URL.", hint=_HINT)
    named = f" ({contact})" if contact else ""
    return f"{ROBOT}/{__version__}{named} httpx/{httpx.__version__}"


def contact_file() -> Path:
    """Where the contact is kept for all commands."""
    return home() / "pages" / ".contact"


def remembered_contact(given: str, place: Path) -> str:
    """The given contact, which is kept in the file at `place`; else the one kept before, or the project's own page.

    Raises UsageError for a contact that is not valid, CorpusError where it cannot be kept.
    """
    if not given:
        try:
            return readable(place).read_text(encoding="utf-8").strip() or homepage()
        except (OSError, UnicodeDecodeError):
            return homepage()
    user_agent(given)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(given.strip() + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable(place, error) from error
    return given.strip()


def homepage() -> str:
    """The project's page as its packaging names it, the contact where the user gives none; "" if there is none."""
    try:
        urls = metadata.metadata("iterative-rag").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    return next((url.partition(",")[2].strip() for url in urls if url.lower().startswith("homepage")), "")
