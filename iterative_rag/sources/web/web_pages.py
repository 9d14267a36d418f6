"""Web pages by URL -> Markdown files in a folder, which are indexed again without a network; robots.txt (RFC 9309)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit
from urllib.robotparser import RobotFileParser

from iterative_rag.errors import AddressRefused, FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode, decode_html
from iterative_rag.sources.formats import html
from iterative_rag.sources.formats.text import titled
from iterative_rag.sources.web.page_client import ROBOT, PageResponse, RetryPolicy, Web, is_fetchable, status_error
from iterative_rag.sources.web.stored_pages import StoredPages
from iterative_rag.sources.wikipedia.page_markdown import require_converters

_MAX_BYTES = 500 * 1024  # of a robots.txt: the RFC asks for at least as much
HTML = frozenset({"text/html", "application/xhtml+xml"})
TEXT = frozenset({"text/plain", "text/markdown", "text/x-markdown"})
MAX_BYTES = html.MAX_BYTES
TRIES = 3  # few: the user is waiting
_URL = re.compile(r"[a-z][a-z0-9+.-]*://|//|(?:data|javascript|mailto|blob|about):", re.IGNORECASE)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_HINTS = {
    401: "The page wants a user name: save it and add the file.",
    403: "The site refuses robots: save the page and add the file.",
    404: "Check the address.",
}


def is_url(source: str) -> bool:
    """Whether a source is an address of any scheme, not a path. Those that cannot be fetched are refused later."""
    return bool(_URL.match(source))


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page that was stored. `asked` is the address as given, `url` where its redirects ended."""

    asked: str
    url: str
    title: str
    place: Path


class WebFolder(StoredPages):
    """Web pages, found by any address that led to them."""

    _name, _others = "url", "asked"

    def write(self, asked: str, url: str, title: str, text: str) -> Path:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return self.store({"title": title, "url": url, "fetched": now, "asked": (asked,)}, text)


class WebPages:
    """Fetches pages one after the other. `ignore_robots` is for sites of the user, or whose owner agrees."""

    def __init__(self, web: Web, *, ignore_robots: bool = False, retry: RetryPolicy | None = None) -> None:
        self._web = web
        self._retry = retry or RetryPolicy(tries=TRIES)
        self._ignore_robots = ignore_robots
        self._robots: dict[str, RobotFileParser] = {}  # by the site

    def fetch(self, urls: Iterable[str], folder: WebFolder) -> Iterator[WebPage | Skipped]:
        """The page of each address, or why there is none. Raises CorpusError for the folder, MissingExtra."""
        with folder.opened():
            for asked in dict.fromkeys(_without_fragment(url) for url in urls):
                try:
                    url, title, text = self.page(asked)
                except FetchError as error:
                    yield Skipped(asked, " ".join(filter(None, [str(error), error.hint])))
                else:
                    yield WebPage(asked, url, title, folder.write(asked, url, title, text))

    def page(self, asked: str) -> tuple[str, str, str]:
        """Final URL, title and Markdown. Raises FetchError with the reason why there is no page."""
        if not is_fetchable(asked):
            raise AddressRefused("It is not an http or https address.", hint="Give one, like https://example.org/page.")
        self._ask_robots(asked)
        reply = self._get(asked)
        if reply.status != 200:
            raise status_error(reply, _HINTS)
        url = _without_fragment(reply.url)
        if url != asked:
            self._ask_robots(url)
        title, text = _readable(reply)
        if not text.strip():
            raise FetchError("The page holds no text; it may be built by scripts.")
        return url, title, text

    def _ask_robots(self, url: str) -> None:
        """Raises FetchError where the site forbids it."""
        if self._ignore_robots:
            return
        parts = urlsplit(url)
        site = f"{parts.scheme}://{parts.netloc}".lower()
        if site not in self._robots:
            self._robots[site] = self._rules(site)
        if not self._robots[site].can_fetch(ROBOT, url):
            hint = "If its owner allows it: --ignore-robots."
            raise FetchError(f"The robots.txt of {parts.netloc} forbids it.", hint=hint)

    def _rules(self, site: str) -> RobotFileParser:
        """A site without the file allows all; one whose file fails to load forbids all. Python's parser applies the
        first matching rule and no `*` in paths. Raises FetchError where the site cannot be reached at all."""
        rules = RobotFileParser()
        try:
            reply = self._get(f"{site}/robots.txt")
        except FetchError as error:
            if error.status is None:
                raise
            rules.parse(["User-agent: *", "Disallow: /"])
            return rules
        found = reply.status < 400 or reply.status >= 500
        rules.parse(reply.body[:_MAX_BYTES].decode("utf-8-sig", "replace").splitlines() if found else [])
        return rules

    def _get(self, url: str) -> PageResponse:
        """The reply, of any status but a busy one. Raises FetchError."""

        def attempt() -> PageResponse:
            reply = self._web.get(url)
            if reply.busy:
                raise status_error(reply, _HINTS)
            return reply

        return self._retry.call(attempt)


def _readable(reply: PageResponse) -> tuple[str, str]:
    """Title and Markdown of a reply. Raises FetchError for what is not text."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    named = _CHARSET.search(reply.headers.get("content-type", ""))
    charset = named[1] if named else ""
    if kind in HTML:
        require_converters("web")
        page = html.page(decode_html(reply.body, charset), reply.url, _name_of(reply.url))
        return page.title, page.text
    if kind not in TEXT:
        message = f"It is {kind or 'of unknown type'}, not HTML, plain text or Markdown."
        raise FetchError(message, hint="Save it and add the file, if `iterative-rag index` reads files of its type.")
    _, title, text = titled(decode(reply.body, charset))
    return title or _name_of(reply.url), text


def _name_of(url: str) -> str:
    """A title for a page that has none: the last part of its path, or the host."""
    parts = urlsplit(url)
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]).rpartition(".")
    return " ".join((last[0] or last[2]).replace("_", " ").replace("-", " ").split()) or parts.netloc


def _without_fragment(url: str) -> str:
    return url.strip().partition("#")[0]
