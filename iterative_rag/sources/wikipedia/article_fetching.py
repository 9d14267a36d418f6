"""What the user asks for (titles, categories, the links of a page) -> pages of Wikipedia in a folder, resumable."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Literal

from iterative_rag.errors import FetchError
from iterative_rag.sources.front_matter import Fields
from iterative_rag.sources.web.page_client import RetryPolicy, Web
from iterative_rag.sources.web.stored_pages import StoredPage, StoredPages
from iterative_rag.sources.wikipedia.mediawiki_api import API, Disambiguation, FoundPage, MediaWiki, Missing
from iterative_rag.sources.wikipedia.page_markdown import require_converters, to_markdown
from iterative_rag.sources.wikipedia.page_names import PageName
from iterative_rag.system.threads import first_done

LIMIT = 1000
FOUND, NEAREST = 10, 5  # articles of a search, and titles that may be meant by a missing one
IN_FLIGHT = 3  # requests at a time, as the wikis ask of robots
MAX_FAILED_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class Stored:
    """A page in the folder. `fetched`: it came in this run and was not there before."""

    name: PageName
    title: str
    place: Path
    fetched: bool


@dataclass(frozen=True, slots=True)
class NotFetched:
    """Why there is no page. `nearest` are titles that may be meant: those of a disambiguation page, or similar ones."""

    name: PageName
    kind: Literal["missing", "disambiguation", "failed"]
    reason: str
    nearest: tuple[str, ...] = ()


Outcome = Stored | NotFetched
Progress = Callable[[int, int], None]  # called after every name: how many have their outcome, of how many


@dataclass(frozen=True, slots=True)
class Wanted:
    """All `names` are fetched, and at most `limit` more from the searches, the categories and the links. `links_of` are
    fetched with the pages that they link to."""

    names: tuple[PageName, ...] = ()
    categories: tuple[PageName, ...] = ()
    links_of: tuple[PageName, ...] = ()
    searches: tuple[PageName, ...] = ()
    limit: int = LIMIT

    @property
    def nothing(self) -> bool:
        return not (self.names or self.categories or self.links_of or self.searches)


@dataclass(frozen=True, slots=True)
class Collected:
    """`cut`: there are more pages than the limit. `folder` may hold other pages too."""

    folder: Path
    outcomes: tuple[Outcome, ...]
    cut: bool
    seconds: float

    @property
    def stored(self) -> dict[Path, Stored]:
        """Each page once, whether fetched now or before."""
        pages: dict[Path, Stored] = {}
        for outcome in self.outcomes:
            if isinstance(outcome, Stored) and (outcome.fetched or outcome.place not in pages):
                pages[outcome.place] = outcome
        return pages

    @property
    def missing(self) -> tuple[NotFetched, ...]:
        return tuple(outcome for outcome in self.outcomes if isinstance(outcome, NotFetched))

    @property
    def fetched(self) -> int:
        return sum(page.fetched for page in self.stored.values())


class Wikis:
    """The wikis of all languages behind one URL pattern. They share a retry policy, because one operator runs them.
    `kind` is the client of one of them."""

    def __init__(self, web: Web, retry: RetryPolicy, *, api: str = API, kind: type[MediaWiki] = MediaWiki) -> None:
        self._kind = kind
        self.retry = retry
        self._web = web
        self._api = api
        self._known: dict[str, MediaWiki] = {}

    def of(self, language: str) -> MediaWiki:
        api = self._api.replace("{language}", language)
        if api not in self._known:
            self._known[api] = self._kind(api, self._web, self.retry)
        return self._known[api]


class PageFolder(StoredPages):
    """A folder of wiki pages, found by language and title, or by a redirect to them."""

    def _key(self, name: str, language: str) -> tuple[str, str]:
        return PageName(name, language).key

    def find(self, name: PageName) -> StoredPage | None:
        """The page stored under this title or a redirect to it."""
        return self._found.get(name.key)


def collect(wanted: Wanted, path: Path, wikis: Wikis, *, progress: Progress | None = None) -> Collected:
    """Fetch what is wanted into the folder. Resumable: the same call fetches no page twice. Raises FetchError where a
    wiki cannot be reached or has no such category; CorpusError, CorpusHeld, MissingExtra."""
    started = time.monotonic()
    names, cut = _names(wanted, wikis)
    outcomes: list[Outcome] = []
    folder = PageFolder(path)
    with folder.opened(), closing(fetch_pages(names, folder, wikis)) as fetched:
        for outcome in fetched:
            outcomes.append(outcome)
            if progress:
                progress(len(outcomes), len(names))
    return Collected(path, tuple(outcomes), cut, round(time.monotonic() - started, 1))


def _names(wanted: Wanted, wikis: Wikis) -> tuple[dict[PageName, None], bool]:
    """All wanted pages, and whether the limit left some out."""
    names = dict.fromkeys(wanted.names)
    most = len(names) + wanted.limit
    for name in _further(wanted, wikis):
        if len(names) == most and name not in names:
            return names, True
        names[name] = None
    return names, False


def _further(wanted: Wanted, wikis: Wikis) -> Iterator[PageName]:
    for words in wanted.searches:
        yield from (PageName(title, words.language) for title in wikis.of(words.language).search(words.title, FOUND))
    for category in wanted.categories:
        empty = True
        for title in wikis.of(category.language).category(category.title):
            empty = False
            yield PageName(title, category.language)
        if empty:
            message = f"The category {category.title!r} of the wiki {category.language!r} holds no article."
            raise FetchError(message, hint="Check its name, and the language with --lang.")
    yield from wanted.links_of
    for page in wanted.links_of:
        yield from (PageName(title, page.language) for title in wikis.of(page.language).links(page.title))


def fetch_pages(names: Iterable[PageName], folder: PageFolder, wikis: Wikis) -> Generator[Outcome, None, None]:
    """An outcome for each name, as soon as it is known. Pages in the folder are not looked up.

    A page that several names lead to is fetched once, and stored at once, so that a killed run can be resumed.
    `folder` must be open. Raises FetchError when the wiki cannot be reached at all, CorpusError, MissingExtra.
    """
    require_converters()
    asked: dict[str, dict[str, list[PageName]]] = {}
    for name in dict.fromkeys(names):
        if there := folder.find(name):
            yield Stored(name, there.title, there.place, fetched=False)
        else:
            asked.setdefault(name.language, {}).setdefault(name.title, []).append(name)
    work = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="fetching")
    try:
        for language, names_of in asked.items():
            wiki = wikis.of(language)
            pages: dict[str, tuple[FoundPage, list[PageName]]] = {}
            for title, result in wiki.look_up(list(names_of)):
                if not isinstance(result, FoundPage):
                    yield from _not_fetched(wiki, names_of[title], result)
                    continue
                if there := folder.find(PageName(result.title, language)):
                    yield from (Stored(name, there.title, there.place, fetched=False) for name in names_of[title])
                else:
                    pages.setdefault(result.title, (result, []))[1].extend(names_of[title])
            yield from _outcomes((work.submit(_fetch, wiki, page, of, folder), of) for page, of in pages.values())
    except BaseException:  # an interrupt, or the generator is closed: requests that wait must not go on
        wikis.retry.stop()
        raise
    finally:
        work.shutdown(wait=True, cancel_futures=True)


def _not_fetched(wiki: MediaWiki, names: list[PageName], result: Disambiguation | Missing) -> Iterator[NotFetched]:
    if isinstance(result, Disambiguation):
        reason, choices = f"{result.title} has several meanings.", wiki.choices(result.title)
        yield from (NotFetched(name, "disambiguation", reason, choices) for name in names)
    else:
        nearest = wiki.search(result.title, NEAREST)
        yield from (NotFetched(name, "missing", result.reason, nearest) for name in names)


def _fetch(wiki: MediaWiki, page: FoundPage, names: list[PageName], folder: PageFolder) -> tuple[str, Path]:
    html = wiki.html(page.revision)
    title = page.title
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    fields: Fields = {
        "title": title,
        "url": page.url,
        "revision": str(page.revision),
        "revised": page.revised,
        "fetched": now,
        "licence": wiki.licence(),
        "language": names[0].language,
        "redirects": tuple(dict.fromkeys(name.title for name in names if name.title != title)),
    }
    return title, folder.store(fields, to_markdown(html, title))


def _outcomes(fetches: Iterator[tuple[Future[tuple[str, Path]], list[PageName]]]) -> Iterator[Outcome]:
    """The outcome of each page. Raises FetchError when so many fail in a row that the others will fail too. `fetches`
    begin when they are taken, each when another is done: however late their failures are seen, few follow."""
    failed = 0
    running = dict(islice(fetches, IN_FLIGHT))
    while running:
        future = first_done(running).pop()
        names = running.pop(future)
        running.update(islice(fetches, 1))
        try:
            title, path = future.result()
        except FetchError as error:
            failed += 1
            if failed >= MAX_FAILED_IN_A_ROW:
                raise FetchError(
                    f"{failed} pages in a row could not be fetched. {error}",
                    hint=" ".join(filter(None, [error.hint, "Run the same command again to go on."])),
                ) from error
            yield from (NotFetched(name, "failed", str(error)) for name in names)
        else:
            failed = 0
            yield from (Stored(name, title, path, fetched=True) for name in names)
