"""A wiki's own API (MediaWiki Action API): which page a title leads to, its HTML, categories, links, similar titles.

https://www.mediawiki.org/wiki/API:Main_page; its etiquette: a User-Agent with a contact, few requests at a time,
`maxlag`, `Retry-After`, many titles in one request.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from iterative_rag.errors import FetchError, MissingExtra
from iterative_rag.sources.web.page_client import PageResponse, RetryPolicy, Web, status_error
from iterative_rag.system.files import json_value

API = "https://{language}.wikipedia.org/w/api.php"
TITLES_PER_REQUEST = 20  # the API takes 50, but some servers refuse addresses that long
_MAXLAG = "5"
_MAXLAG_PAUSE = 5.0
_BUSY = frozenset({"maxlag", "ratelimited", "readonly"})
_CHOICES = 50
_HINTS = {
    403: "Wikimedia refuses robots that name no contact: give --contact.",
    404: "Check the address of the API; it ends in api.php.",
    429: "Too many requests: try again later.",
}


@dataclass(frozen=True, slots=True)
class FoundPage:
    """A page, redirects followed. `revised` is the date of its revision (ISO 8601, UTC)."""

    title: str
    url: str
    revision: int
    revised: str


@dataclass(frozen=True, slots=True)
class Disambiguation:
    """A page that only lists what its title may mean."""

    title: str


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no page of this title, and why."""

    title: str
    reason: str


LookUp = FoundPage | Disambiguation | Missing


class MediaWiki:
    """One wiki. Usable from several threads; the caller bounds the requests in flight. All methods raise FetchError."""

    def __init__(self, api: str, web: Web, retry: RetryPolicy) -> None:
        self.api = api
        self._web = web
        self._retry = retry
        self._licence: str | None = None
        self._lock = threading.Lock()

    def licence(self) -> str:
        """As the wiki words it, or ""; requested once."""
        with self._lock:
            if self._licence is None:
                rights = self._query({"meta": "siteinfo", "siprop": "rightsinfo"}).get("rightsinfo", {})
                self._licence = str(rights.get("text") or rights.get("url") or "")
            return self._licence

    def look_up(self, titles: Sequence[str]) -> Iterator[tuple[str, LookUp]]:
        """What each title leads to; one request for many of them."""
        for title in titles:
            if "|" in title:  # it separates the titles of a request
                yield title, Missing(title, "A title cannot hold a vertical bar.")
        asked = [title for title in titles if "|" not in title]
        for start in range(0, len(asked), TITLES_PER_REQUEST):
            batch = asked[start : start + TITLES_PER_REQUEST]
            told = {"prop": "info|pageprops|revisions", "inprop": "url", "ppprop": "disambiguation"}
            asked_for = {"titles": "|".join(batch), "redirects": "1", **told, "rvprop": "ids|timestamp"}
            query = self._query(asked_for)
            yield from ((title, _leads_to(title, query)) for title in batch)

    def html(self, revision: int) -> str:
        """The HTML of the page's content."""
        without = dict.fromkeys(("disableeditsection", "disabletoc", "disablelimitreport"), "1")
        parsed = self._call({"action": "parse", "oldid": str(revision), "prop": "text", **without})
        text = parsed.get("parse", {}).get("text")
        if not isinstance(text, str):
            raise FetchError(f"{self.api} sent no text for revision {revision}.")
        return text

    def choices(self, title: str) -> tuple[str, ...]:
        """The articles that a disambiguation page offers."""
        links = self._call({"action": "parse", "page": title, "prop": "links"}).get("parse", {}).get("links", [])
        return tuple(str(link["title"]) for link in links if link.get("ns") == 0 and link.get("exists"))[:_CHOICES]

    def category(self, name: str) -> Iterator[str]:
        """The articles of a category, with or without "Category:"; requested a few hundred at a time, as needed."""
        prefix, _, rest = name.partition(":")
        if rest and prefix.strip().casefold() == "category":
            name = rest.strip()
        title = {"cmtitle": f"Category:{name}", "cmtype": "page", "cmnamespace": "0", "cmlimit": "max"}
        for answer in self._parts({"list": "categorymembers", **title}):
            yield from (str(page["title"]) for page in answer.get("categorymembers", []))

    def links(self, title: str) -> Iterator[str]:
        """The existing articles that a page links to, redirects followed."""
        linked = {"generator": "links", "gplnamespace": "0", "gpllimit": "max", "redirects": "1"}
        for answer in self._parts({"titles": title, "prop": "info", **linked}):
            pages = [page for page in answer.get("pages", []) if not page.get("missing") and page.get("ns") == 0]
            yield from sorted(str(page["title"]) for page in pages)

    def search(self, words: str, limit: int) -> tuple[str, ...]:
        """The articles that the wiki's own search finds, best first."""
        asked = {"list": "search", "srsearch": words, "srlimit": str(limit), "srprop": "", "srinfo": ""}
        return tuple(str(hit["title"]) for hit in self._query({**asked, "srnamespace": "0"}).get("search", []))[:limit]

    def _query(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        """A query with all its continuations merged: the API splits long answers."""
        whole: dict[str, Any] = {}
        for part in self._parts(parameters):
            for name, value in part.items():
                whole[name] = [*whole.get(name, []), *value] if isinstance(value, list) else value
        return whole

    def _parts(self, parameters: Mapping[str, str]) -> Iterator[dict[str, Any]]:
        """The parts of the answer to a query, each requested when the one before is used up."""
        more: dict[str, str] = {}
        while True:
            answer = self._call({"action": "query", **parameters, **more})
            yield answer.get("query", {})
            if not answer.get("continue"):
                return
            following = {name: str(value) for name, value in answer["continue"].items()}
            if following == more:
                raise FetchError(f"{self.api} repeats the same part of its answer.")
            more = following

    def _call(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        return self._asked({"format": "json", "formatversion": "2", "maxlag": _MAXLAG, **parameters})

    def _asked(self, parameters: Mapping[str, object]) -> dict[str, Any]:
        asked = {name: str(value) for name, value in parameters.items()}
        return self._retry.call(lambda: self._answer(self._web.get(self.api, asked)))

    def _answer(self, reply: PageResponse) -> dict[str, Any]:
        """The answer. Raises FetchError for an HTTP status, an API error, or anything but JSON."""
        if reply.status >= 400:
            raise status_error(reply, _HINTS)
        try:
            answer = json_value(reply.body)
        except ValueError as error:
            raise FetchError(
                f"{self.api} sent something that is not JSON.",
                hint="Check that this is the address of a MediaWiki API; it ends in api.php.",
                retryable=True,  # the error page of a proxy, or an answer that was cut off
            ) from error
        if not isinstance(answer, dict):
            raise FetchError(f"{self.api} sent JSON that is not an answer of a MediaWiki API.")
        if fault := answer.get("error"):
            code, info = str(fault.get("code", "")), str(fault.get("info", "")).rstrip(".")
            busy = code in _BUSY
            pause = reply.retry_after
            raise FetchError(
                f"{self.api} answered: {info} ({code}).",
                retryable=busy or code.startswith("internal_api_error"),
                retry_after=_MAXLAG_PAUSE if busy and pause is None else pause,
            )
        return answer


def _leads_to(asked: str, query: Mapping[str, Any]) -> LookUp:
    """What a title leads to, by the answer to a query of several."""
    moves = [*query.get("normalized", []), *query.get("redirects", [])]
    moved = {str(entry["from"]): str(entry["to"]) for entry in moves}
    title, seen = asked, {asked}
    while title in moved:
        title = moved[title]
        if title in seen:
            return Missing(asked, "It is redirected in a circle.")
        seen.add(title)
    for entry in query.get("interwiki", []):
        if entry["title"] == title:
            return Missing(asked, f"It is a page of another wiki ({entry.get('iw', '')}).")
    page: dict[str, Any] = {}
    for part in query.get("pages", []):
        page |= part if part["title"] == title else {}
    if not page or page.get("invalid"):
        return Missing(asked, str(page.get("invalidreason", "It is not a valid title.")))
    if page.get("missing") or page.get("special") or not page.get("revisions"):
        return Missing(asked, "There is no such page.")
    if "disambiguation" in page.get("pageprops", {}):
        return Disambiguation(title)
    revision = page["revisions"][0]
    return FoundPage(title, str(page.get("canonicalurl", "")), int(revision["revid"]), str(revision["timestamp"]))


# --- titles looked up by the package pymediawiki, for `corpus fetch --via wikipedia` -------------


class PackageWiki(MediaWiki):
    """A wiki whose titles are looked up by the package, one at a time; the article itself comes by our own client.

    All requests of the package go through that client, too: public hosts only, one deadline, the pauses that a wiki
    asks for. (`wikipedia` has had no release since 2014, and `wikipedia-api` pins the versions of what it needs.)
    """

    def __init__(self, api: str, web: Web, retry: RetryPolicy) -> None:
        super().__init__(api, web, retry)
        self._library = require_package()
        self._opened: Any = None
        self._meant: dict[str, tuple[str, ...]] = {}

    def look_up(self, titles: Sequence[str]) -> Iterator[tuple[str, LookUp]]:
        for title in titles:
            meant = self._meant_by(title)
            yield title, next(result for _, result in super().look_up([meant])) if isinstance(meant, str) else meant

    def _meant_by(self, title: str) -> str | Disambiguation | Missing:
        """The title of the page that the package takes to be meant."""
        errors = self._library.exceptions
        with self._readable():
            try:
                return str(self._wiki().page(title, auto_suggest=False).title)
            except errors.DisambiguationError as error:
                self._meant[error.title] = tuple(error.options)
                return Disambiguation(str(error.title))
            except errors.PageError:
                return Missing(title, "There is no such page.")

    def choices(self, title: str) -> tuple[str, ...]:
        return self._meant.get(title) or super().choices(title)

    def search(self, words: str, limit: int) -> tuple[str, ...]:
        with self._readable():
            return tuple(map(str, self._wiki().search(words, results=limit)))

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """Raises FetchError for what the package raises where a wiki gives an odd answer."""
        try:
            yield
        except (self._library.exceptions.MediaWikiBaseException, LookupError, AttributeError, TypeError) as error:
            raise FetchError(
                f"{self.api} gave an answer that pymediawiki cannot read: {error}.",
                hint="Check that it is the address of a MediaWiki API, or leave --via wikipedia out.",
            ) from error

    def _wiki(self) -> Any:
        """The object of the package, made once: it asks the wiki for its version."""
        if self._opened is None:
            asking = {"_get_response": lambda package, parameters: self._asked(parameters)}
            kind = type("OwnTransport", (self._library.MediaWiki,), asking)
            self._opened = kind(url=self.api, user_agent="")  # our client names itself
        return self._opened


def require_package() -> Any:
    """The package. Raises MissingExtra without it."""
    try:
        return import_module("mediawiki")
    except ImportError as error:
        raise MissingExtra("wikipedia-package") from error
