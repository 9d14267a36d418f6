"""Many pages of Wikipedia into a folder: resumable, polite, every title with its own outcome."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iterative_rag.errors import FetchError
from iterative_rag.sources.web.page_client import Web
from iterative_rag.sources.web.retry_policy import RetryPolicy
from iterative_rag.sources.wikipedia.article_files import PageFile, PageFolder, StoredPage
from iterative_rag.sources.wikipedia.mediawiki_api import API, Disambiguation, FoundPages, MediaWiki, Missing
from iterative_rag.sources.wikipedia.page_markdown import require_converters, to_markdown
from iterative_rag.sources.wikipedia.page_names import PageName

IN_FLIGHT = 3  # requests at a time, as the wikis ask of robots
MOST_FAILED_IN_A_ROW = 5


@dataclass(frozen=True, slots=True)
class Stored:
    """The page lies in the folder. `fetched` tells whether this run brought it, or it was there."""

    name: PageName
    title: str
    place: Path
    fetched: bool


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """The title leads to a page that only lists what it may mean: the choices."""

    name: PageName
    title: str
    choices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such page; `nearest` are titles that may be meant."""

    name: PageName
    reason: str
    nearest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failed:
    """The page is there, but could not be had this time."""

    name: PageName
    message: str
    hint: str


Outcome = Stored | Ambiguous | Absent | Failed


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why there is no page: kind is missing, disambiguation or failed. `nearest` are titles that may be meant."""

    kind: str
    reason: str
    nearest: tuple[str, ...] = ()


def shortfall(outcome: Ambiguous | Absent | Failed) -> Shortfall:
    match outcome:
        case Ambiguous():
            return Shortfall("disambiguation", f"{outcome.title} has several meanings.", outcome.choices)
        case Absent():
            return Shortfall("missing", outcome.reason, outcome.nearest)
        case Failed():
            return Shortfall("failed", outcome.message)


@dataclass(frozen=True, slots=True)
class FetchProgress:
    """`done` of `total` names have their outcome; `fetched` pages came in this run, in `seconds`."""

    done: int
    total: int
    fetched: int
    missing: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.fetched / self.seconds if self.seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.per_second if self.fetched else None


class Wikis:
    """The wiki of each language behind one address pattern; they share one retry, as they have one keeper."""

    def __init__(self, web: Web, retry: RetryPolicy, *, api: str = API) -> None:
        self.retry = retry
        self._web = web
        self._api = api
        self._known: dict[str, MediaWiki] = {}

    def of(self, language: str) -> MediaWiki:
        api = self._api.replace("{language}", language)
        return self._known.setdefault(api, MediaWiki(api, self._web, self.retry))


def fetch_into(
    folder: PageFolder,
    names: Collection[PageName],
    wikis: Wikis,
    *,
    refresh: bool = False,
    progress: Callable[[FetchProgress], None] | None = None,
) -> Iterator[Outcome]:
    """`fetch_pages`, with the folder held meanwhile and the progress told after every name."""
    started = time.monotonic()
    fetched: set[Path] = set()
    done = missing = 0
    with folder.opened(), closing(fetch_pages(names, folder, wikis, refresh=refresh)) as outcomes:
        for outcome in outcomes:
            done += 1
            if not isinstance(outcome, Stored):
                missing += 1
            elif outcome.fetched:
                fetched.add(outcome.place)
            if progress:
                progress(FetchProgress(done, len(names), len(fetched), missing, time.monotonic() - started))
            yield outcome


def fetch_pages(
    names: Iterable[PageName], folder: PageFolder, wikis: Wikis, *, refresh: bool = False
) -> Generator[Outcome, None, None]:
    """One outcome for each name, in the order in which they are known. What lies in the folder is not asked for.

    Several names may lead to one page: it is fetched once. A page is stored as soon as it is there, so that a run
    that was killed goes on where it was. `refresh` looks stored pages up too and fetches those whose revision has
    changed. `folder` must be open.
    Raises FetchError when the wiki cannot be had at all, CorpusError for the folder, MissingExtra.
    """
    require_converters()
    asked: dict[str, dict[str, list[PageName]]] = {}
    for name in dict.fromkeys(names):
        there = folder.find(name)
        if there and not refresh:
            yield _there(name, there)
        else:
            asked.setdefault(name.language, {}).setdefault(name.title, []).append(name)
    work = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="fetching")
    try:
        for language, titles in asked.items():
            wiki = wikis.of(language)
            pages: dict[str, tuple[FoundPages, list[PageName]]] = {}
            for title, look_up in wiki.look_up(list(titles)):
                if not isinstance(look_up, FoundPages):
                    yield from _not_a_page(wiki, titles[title], look_up)
                    continue
                there = folder.find(PageName(look_up.title, language))
                if there and (there.revision == look_up.revision or not refresh):
                    if there is not folder.find(titles[title][0]):
                        folder.add_redirects(there.place, [title])
                    yield from (_there(name, there) for name in titles[title])
                else:
                    pages.setdefault(look_up.title, (look_up, []))[1].extend(titles[title])
            futures = {work.submit(_fetch, wiki, found, leading, folder): leading for found, leading in pages.values()}
            yield from _outcomes(futures)
    except BaseException:  # an interrupt, or nobody asks for the next outcome: what waits or pauses must not go on
        wikis.retry.stop()
        raise
    finally:
        work.shutdown(wait=True, cancel_futures=True)


def _there(name: PageName, page: StoredPage) -> Stored:
    return Stored(name, page.title, page.place, fetched=False)


def _not_a_page(wiki: MediaWiki, names: list[PageName], look_up: Disambiguation | Missing) -> Iterator[Outcome]:
    if isinstance(look_up, Disambiguation):
        choices = wiki.choices(look_up.title)
        yield from (Ambiguous(name, look_up.title, choices) for name in names)
    else:
        nearest = wiki.nearest(look_up.title)
        yield from (Absent(name, look_up.reason, nearest) for name in names)


def _fetch(wiki: MediaWiki, found: FoundPages, names: list[PageName], folder: PageFolder) -> tuple[str, Path]:
    html = wiki.html(found.revision)
    title = found.title
    page = PageFile(
        title=title,
        url=found.url,
        revision=found.revision,
        revised=found.revised,
        fetched=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        licence=wiki.site().licence,
        language=names[0].language,
        redirects=tuple(dict.fromkeys(name.title for name in names if name.title != title)),
        text=to_markdown(html, title),
    )
    return title, folder.write(page)


def _outcomes(futures: dict[Future[tuple[str, Path]], list[PageName]]) -> Iterator[Outcome]:
    """What became of each page. Raises when so many fail in a row that the next ones will fail too."""
    failed = 0
    for future in as_completed(futures):
        names = futures[future]
        try:
            title, place = future.result()
        except FetchError as error:
            failed += 1
            if failed >= MOST_FAILED_IN_A_ROW:
                raise FetchError(
                    f"{failed} pages in a row could not be fetched. {error}",
                    hint=" ".join(filter(None, [error.hint, "Run the same command again to go on."])),
                ) from error
            yield from (Failed(name, str(error), error.hint) for name in names)
        else:
            failed = 0
            yield from (Stored(name, title, place, fetched=True) for name in names)
