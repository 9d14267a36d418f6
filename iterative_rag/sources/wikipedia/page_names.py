"""What the user calls a page (a title, or any URL of it) -> the wiki's language, the title, the section."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import parse_qs, unquote, urlsplit

from iterative_rag.errors import UsageError

DEFAULT_LANGUAGE = "en"
_HOST = re.compile(r"(?:(?P<language>[a-z][a-z0-9-]*)\.)?(?:m\.)?wikipedia\.org", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z][a-z0-9-]{0,30}")  # it becomes a part of a host's name
_URL = re.compile(r"(?:[a-z][a-z0-9+.-]*:)?//", re.IGNORECASE)
_BARE = re.compile(r"(?:[a-z0-9-]+\.){1,2}wikipedia\.org/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PageName:
    """A page that is asked for. `title` is spelled with spaces; `section` is "" for the whole page."""

    title: str
    language: str = DEFAULT_LANGUAGE
    section: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The same for all spellings of a title that every wiki takes for one."""
        return self.language, self.title[:1].upper() + self.title[1:]


def is_link(text: str) -> bool:
    """Whether this is an address and no title: a URL of any site, one of Wikipedia without its scheme, or a path."""
    return text.startswith("/wiki/") or bool(_URL.match(text) or _BARE.match(text))


def page_name(text: str, *, language: str = DEFAULT_LANGUAGE) -> PageName:
    """Read a title or a URL of Wikipedia, mobile, with a section, percent-encoded, or `index.php?title=`.

    `language` is that of a bare title. Raises UsageError for a URL that names no page of Wikipedia.
    """
    if not _LANGUAGE.fullmatch(language):
        raise UsageError(f"{language!r} is no language of Wikipedia.", hint="Give its code, like en, de or simple.")
    text = text.strip()
    if text.startswith("/wiki/"):
        text = f"https://{language}.wikipedia.org{text}"
    if not is_link(text):
        title, _, section = text.partition("#")
        return _named(title, language, section)
    try:
        parts = urlsplit(text if _URL.match(text) else f"https://{text}", scheme="https")
        host = _HOST.fullmatch((parts.hostname or "").removeprefix("www."))
    except ValueError:
        host = None
    if host is None:
        raise UsageError(f"{text} is not an address of Wikipedia.", hint='Give a title, like "James Buchanan".')
    asked = parse_qs(parts.query).get("title", [""])[0]
    if not asked and parts.path.startswith("/wiki/"):
        # A question mark that was not encoded belongs to the title: /wiki/Quo_vadis?
        mark = "?" if text.partition("#")[0].endswith("?") else ""
        asked = _decoded(parts.path.removeprefix("/wiki/")) + mark
    return _named(asked, (host["language"] or language).lower(), _decoded(parts.fragment))


def _named(title: str, language: str, section: str) -> PageName:
    title = _plain(title)
    if not title:
        raise UsageError("A page needs a title.", hint='Give one, like "James Buchanan".')
    return PageName(title, language, _plain(section))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFC", " ".join(text.replace("_", " ").split()))


def _decoded(text: str) -> str:
    """Percent-encoding undone: UTF-8, or Latin-1 where it is not that, as in links of the first years."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return unquote(text, encoding="latin-1")
