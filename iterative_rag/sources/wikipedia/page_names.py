"""A page as users name it (a title, or any URL of it) -> the wiki's language and the title."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from iterative_rag.errors import UsageError
from iterative_rag.text.folding import plain_title

DEFAULT_LANGUAGE = "en"
_HOST = re.compile(r"(?:(?P<language>[a-z][a-z0-9-]*)\.)?(?:m\.)?wikipedia\.org", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z][a-z0-9-]{0,30}")  # it becomes part of a host name
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_BARE = re.compile(r"(?:[a-z0-9-]+\.){1,2}wikipedia\.org/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageName:
    """A page by its title, spelled with spaces."""

    title: str
    language: str = DEFAULT_LANGUAGE

    @property
    def key(self) -> tuple[str, str]:
        """The same for all spellings that every wiki takes for one title."""
        return self.language, self.title[:1].upper() + self.title[1:]


def is_link(text: str) -> bool:
    """Whether this is an address, not a title: a URL of any site, one of Wikipedia without scheme, or its path."""
    return text.startswith("/wiki/") or bool(_URL.match(text) or _BARE.match(text))


def page_name(text: str, *, language: str = DEFAULT_LANGUAGE) -> PageName:
    """Read a title or a URL of Wikipedia: mobile, percent-encoded, or `index.php?title=`. A section is dropped.
    `language` is that of a bare title. Raises UsageError for a URL that is not one of a Wikipedia page."""
    if not _LANGUAGE.fullmatch(language):
        raise UsageError(f"{language!r} is not a language of Wikipedia.", hint="Give its code, like en, de or simple.")
    text = text.strip()
    if text.startswith("/wiki/"):
        text = f"https://{language}.wikipedia.org{text}"
    if not is_link(text):
        return _named(text.partition("#")[0], language)
    try:
        parts = urlsplit(text if _URL.match(text) else f"https://{text}", scheme="https")
        host = _HOST.fullmatch((parts.hostname or "").removeprefix("www."))
    except ValueError:
        host = None
    if host is None:
        raise UsageError(f"{text} is not an address of Wikipedia.", hint='Give a title, like "James Buchanan".')
    asked = parse_qs(parts.query).get("title", [""])[0]
    if not asked and parts.path.startswith("/wiki/"):
        # An unencoded question mark belongs to the title: /wiki/Quo_vadis?
        mark = "?" if text.partition("#")[0].endswith("?") else ""
        asked = unquote(parts.path.removeprefix("/wiki/")) + mark
    return _named(asked, (host["language"] or language).lower())


def _named(title: str, language: str) -> PageName:
    title = plain_title(title)
    if not title:
        raise UsageError("A page needs a title.", hint='Give one, like "James Buchanan".')
    return PageName(title, language)
