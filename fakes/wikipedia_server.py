"""A small MediaWiki on loopback: its own pages in its own words, and every fault that a real one has."""

from __future__ import annotations

import dataclasses
import socket
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fakes.loopback_server import Handler, LoopbackServer

LICENCE = "Creative Commons Attribution-Share Alike 4.0"


@dataclass(frozen=True)
class WikiPage:
    """`links` are the pages that it links to; of a disambiguation page: what it offers."""

    html: str
    revision: int
    disambiguation: bool = False
    links: Sequence[str] = ()

    @property
    def revised(self) -> str:
        return f"2025-01-{self.revision % 28 + 1:02}T10:00:00Z"


@dataclass(frozen=True)
class Trouble:
    """How one answer goes wrong: kind is status, maxlag, error, cut, drop (no reply), text, loop (in a circle)."""

    kind: str
    status: int = 503
    retry_after: str = ""


@dataclass
class FakeTime:
    """Seconds that pass when somebody sleeps; usable from several threads."""

    pauses: list[float] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def now(self) -> float:
        with self._lock:
            return sum(self.pauses)

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.pauses.append(seconds)


@dataclass
class FakeWiki(LoopbackServer):
    """`redirects` are title -> (title, section), `categories` name -> titles.

    `troubles` are used up in order by requests that `hits` picks. `gate` is called before the HTML of a page is sent: a
    test can wait there. `files` are other paths it serves, `fetched_files` those that were asked for; `moved` are paths
    that are redirected.
    """

    pages: dict[str, WikiPage] = field(default_factory=dict)
    redirects: dict[str, tuple[str, str]] = field(default_factory=dict)
    categories: dict[str, list[str]] = field(default_factory=dict)
    portion: int = 10  # titles in one part of a list
    troubles: deque[Trouble] = field(default_factory=deque)
    always: Trouble | None = None
    hits: Callable[[Mapping[str, str]], bool] = lambda asked: True
    files: dict[str, bytes] = field(default_factory=dict)
    fetched_files: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    gate: Callable[[str], object] = lambda title: None
    split: bool = False  # send long answers in two parts, as the API does
    asked: list[Mapping[str, str]] = field(default_factory=list)
    agents: set[str] = field(default_factory=set)
    sent: Counter[str] = field(default_factory=Counter)  # how often each page's HTML went out whole
    most_in_flight: int = 0

    def __enter__(self) -> FakeWiki:
        self._lock = threading.Lock()
        self._in_flight = 0
        self.start(_Handler, wiki=self)
        return self

    @property
    def api(self) -> str:
        return f"{self.url}/w/api.php"

    def add(self, title: str, html: str = "", **more: Any) -> None:
        self.pages[title] = WikiPage(html or f"<p>{title} is a place.</p>", len(self.pages) + 100, **more)

    def revise(self, title: str, html: str) -> None:
        self.pages[title] = dataclasses.replace(self.pages[title], html=html, revision=self.pages[title].revision + 500)

    def title_of(self, revision: int) -> str:
        return next(title for title, page in self.pages.items() if page.revision == revision)

    def enter(self, asked: Mapping[str, str], agent: str) -> Trouble | None:
        with self._lock:
            self.asked.append(asked)
            self.agents.add(agent)
            self._in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self._in_flight)
            if not self.hits(asked):
                return None
            return self.troubles.popleft() if self.troubles else self.always

    def leave(self, sent: str = "") -> None:
        with self._lock:
            self._in_flight -= 1
            if sent:
                self.sent[sent] += 1


def is_page(asked: Mapping[str, str]) -> bool:
    """Whether a request asks for the HTML of a page."""
    return asked.get("action") == "parse" and "oldid" in asked


class _Handler(Handler):
    wiki: FakeWiki

    def do_GET(self) -> None:
        address = urlsplit(self.path)
        if address.path in self.wiki.moved:
            self.send(b"", 302, {"Location": self.wiki.moved[address.path]})
            return
        if address.path in self.wiki.files:
            self.wiki.fetched_files.append(address.path)
            self.send(self.wiki.files[address.path])
            return
        if address.path != "/w/api.php":
            self.send(b"no such file", 404)
            return
        asked = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        trouble = self.wiki.enter(asked, self.headers["User-Agent"])
        sent = ""
        try:
            if trouble:
                self._go_wrong(trouble)
            elif is_page(asked):
                sent = self._page(int(asked["oldid"]))
            else:
                self.send_json(self._answer(asked))
        finally:
            self.wiki.leave(sent)

    # --- the API -----------------------------------------------------------------------------

    def _page(self, revision: int) -> str:
        title = self.wiki.title_of(revision)
        self.wiki.gate(title)
        self.send_json({"parse": {"title": title, "revid": revision, "text": self.wiki.pages[title].html}})
        return title

    def _answer(self, asked: Mapping[str, str]) -> object:
        if "formatversion" not in asked:
            return self._older_answer(asked)
        if asked.get("meta") == "siteinfo":
            return {
                "query": {
                    "general": {"sitename": "Lighthouse Wiki", "lang": "en"},
                    "namespaces": {"0": {"id": 0, "name": ""}, "14": {"id": 14, "name": "Rubrik"}},
                    "rightsinfo": {"url": "https://example.org/by-sa", "text": LICENCE},
                }
            }
        if asked.get("action") == "parse":
            links = [{"ns": 0, "title": one, "exists": True} for one in self.wiki.pages[asked["page"]].links]
            return {"parse": {"links": [*links, {"ns": 4, "title": "Help:Names", "exists": True}]}}
        if asked.get("list") == "categorymembers":
            name = asked["cmtitle"].removeprefix("Category:")
            members = [{"ns": 0, "title": one} for one in self.wiki.categories.get(name, [])]
            return self._part("categorymembers", members, asked, "cmcontinue")
        if asked.get("generator") == "links":
            title = self.wiki.redirects.get(asked["titles"], (asked["titles"], ""))[0]
            page = self.wiki.pages.get(title)
            return self._part("pages", [self._found(one) for one in page.links] if page else [], asked, "gplcontinue")
        if asked.get("generator") == "search":
            words = set(asked["gsrsearch"].casefold().split())
            near = [title for title in self.wiki.pages if words & set(title.casefold().split())]
            near.sort(key=lambda title: -len(words & set(title.casefold().split())))
            found = [{**self._found(title), "index": n} for n, title in enumerate(near, start=1)]
            return {"batchcomplete": True, **({"query": {"pages": found[::-1]}} if found else {})}
        if "list" in asked:
            start = asked["srsearch"][:4].casefold()
            rows = [{"ns": 0, "title": one} for one in self.wiki.pages if one.casefold().startswith(start)]
            return {"query": {"search": rows}}
        return self._look_up(asked["titles"].split("|"), "rvcontinue" in asked)

    def _older_answer(self, asked: Mapping[str, str]) -> object:
        """As the first version of the API's JSON has it, which the package pymediawiki asks for."""
        if asked.get("meta") == "siteinfo":
            general = {"generator": "MediaWiki 1.43.0", "server": self.wiki.url, "base": self.wiki.url}
            return {"query": {"general": general, "extensions": []}}
        if asked.get("list") == "search":
            words = asked["srsearch"].casefold()
            near = [title for title in self.wiki.pages if words[:4] in title.casefold()]
            info = {"searchinfo": {"suggestion": near[0]}} if near and "srinfo" in asked else {}
            return {"query": {"search": [{"ns": 0, "title": one} for one in near[: int(asked["srlimit"])]], **info}}
        title = asked["titles"]
        query: dict[str, Any] = {}
        if title in self.wiki.redirects:
            to, _ = self.wiki.redirects[title]
            query["redirects"] = [{"from": title, "to": to}]
            title = to
        page = self.wiki.pages.get(title)
        if page is None:
            return {"query": {**query, "pages": {"-1": {"ns": 0, "title": title, "missing": ""}}}}
        found: dict[str, Any] = {"pageid": page.revision, "title": title, "fullurl": f"{self.wiki.url}/wiki/{title}"}
        if page.disambiguation:
            found["pageprops"] = {"disambiguation": ""}
            links = "".join(f'<li><a title="{one}">{one}</a></li>' for one in page.links)
            found["revisions"] = [{"*": f"<ul>{links}</ul>"}]
        return {"query": {**query, "pages": {str(page.revision): found}}}

    def _part(self, name: str, entries: list[Any], asked: Mapping[str, str], key: str) -> object:
        start = int(asked.get(key, "0"))
        end = start + self.wiki.portion
        more = {"continue": {key: str(end), "continue": "-||"}} if end < len(entries) else {}
        return {"query": {name: entries[start:end]}, **more}

    def _look_up(self, titles: Sequence[str], second_half: bool) -> object:
        assert len(titles) <= 50, "too many titles for one request"
        query: dict[str, Any] = {"pages": [], "normalized": [], "redirects": [], "interwiki": []}
        for asked in titles:
            if asked.startswith("wikt:"):
                query["interwiki"].append({"title": asked, "iw": "wikt"})
                continue
            title = asked[:1].upper() + asked[1:].replace("_", " ")
            if title != asked:
                query["normalized"].append({"from": asked, "to": title})
            for _ in range(3):
                if title in self.wiki.redirects:
                    to, section = self.wiki.redirects[title]
                    more = {"tofragment": section} if section else {}
                    query["redirects"].append({"from": title, "to": to, **more})
                    title = to
            query["pages"].append(self._found(title))
        if not self.wiki.split:
            return {"query": query}
        for page in query["pages"]:  # the revisions come with the second part
            for name in ["pageprops"] if second_half else ["revisions"]:
                page.pop(name, None)
        return (
            {"query": query} if second_half else {"query": query, "continue": {"rvcontinue": "7|8", "continue": "||"}}
        )

    def _found(self, title: str) -> dict[str, Any]:
        if "[" in title:
            return {"title": title, "invalid": True, "invalidreason": "The title holds an invalid character."}
        page = self.wiki.pages.get(title)
        if page is None:
            return {"ns": 0, "title": title, "missing": True}
        return {
            "ns": 0,
            "title": title,
            "pageid": page.revision * 7,
            "canonicalurl": f"{self.wiki.url}/wiki/{title.replace(' ', '_')}",
            "revisions": [{"revid": page.revision, "timestamp": page.revised}],
            **({"pageprops": {"disambiguation": ""}} if page.disambiguation else {}),
        }

    # --- the wire ----------------------------------------------------------------------------

    def _go_wrong(self, trouble: Trouble) -> None:
        after = {"Retry-After": trouble.retry_after} if trouble.retry_after else {}
        if trouble.kind == "maxlag":
            info = {"code": "maxlag", "info": "Waiting for a database server: 9 seconds lagged", "lag": 9}
            self.send_json({"error": info}, headers=after)
        elif trouble.kind == "error":
            self.send_json({"error": {"code": "nosuchrevid", "info": "There is no revision with ID 1."}})
        elif trouble.kind == "text":
            self.send(b"<html>We are sorry.</html>")
        elif trouble.kind == "loop":
            self.send(b"", 302, {"Location": self.path})
        elif trouble.kind == "drop":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif trouble.kind == "cut":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b'{"parse": {"text": "The beginning')
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_WR)
            self.close_connection = True
        else:
            self.send(b"try later", trouble.status, after)
