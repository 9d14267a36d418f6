"""Pages of Wikipedia and of the web, fetched into the folder of a corpus."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import FetchError
from iterative_rag.settings import home

if TYPE_CHECKING:
    from iterative_rag.protocols import Skipped
    from iterative_rag.sources.web.page_client import RetryPolicy, Web
    from iterative_rag.sources.web.web_pages import WebPage
    from iterative_rag.sources.wikipedia.article_fetching import Collected, Progress, Wanted


def pages_folder(corpus: str) -> Path:
    """The folder of the .md files fetched for a corpus; wiki pages and web pages have separate ones."""
    from iterative_rag.index.corpus_names import encoded

    return home() / "pages" / encoded(corpus)


def fetch_wikipedia(
    wanted: Wanted,
    *,
    corpus: str,
    contact: str = "",
    api: str = "",
    private_hosts: bool = False,
    by_package: bool = False,
    progress: Progress | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    allow: Collection[str] = (),
    retry: RetryPolicy | None = None,
) -> Collected:
    """Fetch pages of Wikipedia (or of the wiki at `api`) into the corpus's folder; `index_paths` of it comes next.

    `contact` is named to the wikis. `private_hosts`: the host of `api` may be this machine or in its
    network; say so only where the user typed the address. `by_package`: titles are looked up by `pymediawiki`. `allow`
    and `retry` are for tests.
    """
    from iterative_rag.sources.web.page_client import RetryPolicy, Web, user_agent
    from iterative_rag.sources.web.transport import as_named
    from iterative_rag.sources.wikipedia.article_fetching import Wikis, collect
    from iterative_rag.sources.wikipedia.mediawiki_api import API, MediaWiki, PackageWiki, require_package

    if by_package:
        require_package()
    folder = pages_folder(corpus) / "wikipedia"
    agent = user_agent(contact)
    own = as_named([api] if api else []) if private_hosts else frozenset()
    with Web(agent, allow={*allow, *own}) as web:
        kind = PackageWiki if by_package else MediaWiki
        wikis = Wikis(web, retry or RetryPolicy(on_pause=on_pause), api=api or API, kind=kind)
        return collect(wanted, folder, wikis, progress=progress)


def fetch_web_pages(
    urls: Sequence[str],
    *,
    corpus: str,
    ignore_robots: bool = False,
    on_page: Callable[[WebPage | Skipped], None] | None = None,
    on_pause: Callable[[float, FetchError], None] | None = None,
    web: Web | None = None,
) -> tuple[Path, tuple[WebPage | Skipped, ...]]:
    """Fetch web pages into the corpus's folder: the folder, and each address with its page or why there is none.

    `web` is for tests: a client that may reach what is not public.
    """
    from iterative_rag.sources.web import web_pages
    from iterative_rag.sources.web.page_client import RetryPolicy, Web, user_agent

    folder = pages_folder(corpus) / "web"
    outcomes = []
    # Only wikis ask for a contact.
    with web or Web(user_agent("", required=False), max_bytes=web_pages.MAX_BYTES) as client:
        pages = web_pages.WebPages(
            client,
            ignore_robots=ignore_robots,
            retry=RetryPolicy(tries=web_pages.TRIES, on_pause=on_pause),
        )
        for outcome in pages.fetch(urls, web_pages.WebFolder(folder)):
            outcomes.append(outcome)
            if on_page:
                on_page(outcome)
    return folder, tuple(outcomes)
