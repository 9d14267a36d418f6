"""Many pages of Wikipedia into a folder: resumable, polite, every title with its own outcome."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iterative_rag.corpus.patience import Patience
from iterative_rag.corpus.web import Web
from iterative_rag.corpus.wikipedia.client import API, Disambiguation, Found, MediaWiki, Missing
from iterative_rag.corpus.wikipedia.files import PageFile, PageFolder
from iterative_rag.corpus.wikipedia.markdown import require_converters, to_markdown
from iterative_rag.corpus.wikipedia.names import PageName
from iterative_rag.errors import FetchError, UsageError

IN_FLIGHT = 3  # requests at a time, as the wikis ask of robots
MOST_FAILED_IN_A_ROW = 5
_CONTACT = re.compile(r"https?://[^\s()]+|[^\s()@]+@[^\s()@]+")


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


class Wikis:
    """The wiki of each language behind one address pattern; they share one patience, as they have one keeper."""

    def __init__(self, web: Web, patience: Patience, *, api: str = API) -> None:
        self.patience = patience
        self._web = web
        self._api = api
        self._known: dict[str, MediaWiki] = {}

    def of(self, language: str) -> MediaWiki:
        api = self._api.replace("{language}", language)
        return self._known.setdefault(api, MediaWiki(api, self._web, self.patience))


def user_agent(contact: str) -> str:
    """How we introduce ourselves. Raises UsageError where `contact` is neither a mail address nor a URL."""
    import httpx

    from iterative_rag import __version__

    if not _CONTACT.fullmatch(contact.strip()):
        raise UsageError(
            f"{contact!r} is no contact." if contact else "Wikipedia asks robots to name a contact.",
            hint="Give a mail address or a web page of yours: --contact you@example.org",
        )
    return f"iterative-rag/{__version__} ({contact.strip()}) httpx/{httpx.__version__}"


def fetch_pages(names: Iterable[PageName], folder: PageFolder, wikis: Wikis) -> Generator[Outcome, None, None]:
    """One outcome for each name, in the order in which they are known. What lies in the folder is not asked for.

    Several names may lead to one page: it is fetched once. A page is stored as soon as it is there, so that a run
    that was killed goes on where it was. `folder` must be open.
    Raises FetchError when the wiki cannot be had at all, CorpusError for the folder, MissingExtra.
    """
    require_converters()
    asked: dict[str, dict[str, list[PageName]]] = {}
    for name in dict.fromkeys(names):
        if there := folder.find(name):
            yield Stored(name, *there, fetched=False)
        else:
            asked.setdefault(name.language, {}).setdefault(name.title, []).append(name)
    work = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="fetching")
    try:
        for language, titles in asked.items():
            wiki = wikis.of(language)
            pages: dict[str, tuple[Found, list[PageName]]] = {}
            for title, look_up in wiki.look_up(list(titles)):
                if not isinstance(look_up, Found):
                    yield from _not_a_page(wiki, titles[title], look_up)
                elif there := folder.find(PageName(look_up.title, language)):
                    folder.add_redirects(there[1], [title])
                    yield from (Stored(name, *there, fetched=False) for name in titles[title])
                else:
                    pages.setdefault(look_up.title, (look_up, []))[1].extend(titles[title])
            futures = {work.submit(_fetch, wiki, found, leading, folder): leading for found, leading in pages.values()}
            yield from _outcomes(futures)
    except BaseException:  # an interrupt, or nobody asks for the next outcome: what waits or pauses must not go on
        wikis.patience.stop()
        raise
    finally:
        work.shutdown(wait=True, cancel_futures=True)


def _not_a_page(wiki: MediaWiki, names: list[PageName], look_up: Disambiguation | Missing) -> Iterator[Outcome]:
    if isinstance(look_up, Disambiguation):
        choices = wiki.choices(look_up.title)
        yield from (Ambiguous(name, look_up.title, choices) for name in names)
    else:
        nearest = wiki.nearest(look_up.title)
        yield from (Absent(name, look_up.reason, nearest) for name in names)


def _fetch(wiki: MediaWiki, found: Found, names: list[PageName], folder: PageFolder) -> tuple[str, Path]:
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
