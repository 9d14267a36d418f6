"""Web access of a run, where the user allows it: the search engine, and web pages read as documents."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from iterative_rag.errors import FetchError, UsageError
from iterative_rag.protocols import Skipped
from iterative_rag.settings import Settings
from iterative_rag.text.folding import readable
from iterative_rag.types import Document, SearchResult

if TYPE_CHECKING:
    from iterative_rag.protocols import Pages, SearchEngine
    from iterative_rag.sources.web.page_client import Web

IN_FLIGHT = 3  # pages at a time
SECONDS = 15.0  # for one page with all its redirects
MAX_BYTES = 6 * 1024 * 1024
MOST_TITLE = 200
# A page of a busy server is skipped; Wikipedia's servers sometimes ask for a second try.
TRIES, WIKI_TRIES = 1, 2
LONGEST_PAUSE = 10.0


def make_web(settings: Settings, *, allow: Collection[str] = ()) -> tuple[SearchEngine, Pages] | None:
    """The engine of the settings and the reader of its pages; None where the user has not allowed the web.

    `allow` names hosts ("127.0.0.1:8080") whose pages are read though they are not public: for tests and wikis of
    one's own. Nothing is asked of the network yet. Raises UsageError for a wrong engine or a missing key, MissingExtra.
    """
    if not settings.web:
        return None
    from iterative_rag.sources.search_engines import Wikipedia, search_engine
    from iterative_rag.sources.web.page_client import user_agent
    from iterative_rag.sources.wikipedia.page_markdown import require_converters

    require_converters("web")
    agent = user_agent("", required=False)
    engine = search_engine(settings.search_engine, agent)
    return engine, WebReader(agent, wiki=engine.api if isinstance(engine, Wikipedia) else "", allow=allow)


@dataclass(frozen=True, slots=True)
class WebReader:
    """Reads results as documents: pages of Wikipedia through its API, so that tables and infoboxes survive, all
    others as `corpus fetch` does (public hosts only, robots.txt, sizes, HTML to Markdown).

    `wiki` is the API that the results come from, if they come from one.
    """

    user_agent: str
    wiki: str = ""
    allow: Collection[str] = ()

    def read(self, results: Sequence[SearchResult]) -> Iterator[Document | Skipped]:
        """Each result's page or why there is none, in their order; a few are fetched at a time."""
        from iterative_rag.sources.search_engines import API
        from iterative_rag.sources.web.page_client import Web

        if not results:
            return
        # A wiki that the user named may be private; no other page may lead there.
        own = {_host(self.wiki)} if self.wiki and self.wiki != API else set()
        client = partial(Web, self.user_agent, max_bytes=MAX_BYTES, seconds=SECONDS)
        with (
            client(allow=set(self.allow)) as web,
            client(allow={*self.allow, *own}) as wikis,
            ThreadPoolExecutor(min(IN_FLIGHT, len(results)), thread_name_prefix="web pages") as work,
        ):
            yield from work.map(partial(self._read, web, wikis), results)

    def _read(self, web: Web, wikis: Web, result: SearchResult) -> Document | Skipped:
        from iterative_rag.sources.web.page_client import RetryPolicy
        from iterative_rag.sources.web.web_pages import WebPages

        try:
            wiki = self._wiki_of(result)
            if wiki is not None:
                url, title, text = _article(wikis, *wiki)
            else:
                url, title, text = WebPages(web, retry=RetryPolicy(tries=TRIES)).page(result.url)
        except FetchError as error:
            return Skipped(result.url, str(error))
        title, text = " ".join(title.split())[:MOST_TITLE] or url, readable(text)
        name = hashlib.sha256(f"{url}\n{text}".encode()).hexdigest()[:32]
        return Document(name, title, text, url, url, retrieved=datetime.now(UTC).date().isoformat())

    def _wiki_of(self, result: SearchResult) -> tuple[str, str] | None:
        """API and title of a result that is a page of a wiki."""
        from iterative_rag.sources.wikipedia.mediawiki_api import API
        from iterative_rag.sources.wikipedia.page_names import page_name

        if self.wiki and _host(result.url) == _host(self.wiki):
            return self.wiki, result.title
        try:
            name = page_name(result.url)
        except UsageError:
            return None
        return API.replace("{language}", name.language), name.title


def _article(web: Web, api: str, title: str) -> tuple[str, str, str]:
    """Address, title and Markdown of an article. Raises FetchError."""
    from iterative_rag.sources.web.page_client import RetryPolicy
    from iterative_rag.sources.wikipedia.mediawiki_api import FoundPage, MediaWiki
    from iterative_rag.sources.wikipedia.page_markdown import to_markdown

    wiki = MediaWiki(api, web, RetryPolicy(tries=WIKI_TRIES, longest_pause=LONGEST_PAUSE))
    for _, page in wiki.look_up([title]):
        if isinstance(page, FoundPage):
            return page.url, page.title, to_markdown(wiki.html(page.revision), page.title)
    raise FetchError(f"The wiki has no article {title!r}.")


def _host(url: str) -> str:
    """Host and port of an address, the port always said; "" for what is none."""
    try:
        parts = urlsplit(url)
        return f"{(parts.hostname or '').lower()}:{parts.port or {'http': 80}.get(parts.scheme, 443)}"
    except ValueError:
        return ""
