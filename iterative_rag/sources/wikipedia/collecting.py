"""What the user asks for (titles, categories, the links of a page, a list) -> pages in a folder."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.errors import FetchError
from iterative_rag.sources.wikipedia.article_fetching import (
    FetchProgress,
    NotFetched,
    Outcome,
    PageFolder,
    Stored,
    Wikis,
    fetch_into,
)
from iterative_rag.sources.wikipedia.page_names import PageName

LIMIT = 1000
FOUND = 10  # articles of a search


@dataclass(frozen=True, slots=True)
class Wanted:
    """All `names` are fetched, and at most `limit` more from the searches, the categories and the links.

    `links_of` are fetched with the pages that they link to. `refresh` fetches stored pages again whose revision has
    changed: the wanted ones, or where nothing is wanted those of the whole folder.
    """

    names: tuple[PageName, ...] = ()
    categories: tuple[PageName, ...] = ()
    links_of: tuple[PageName, ...] = ()
    searches: tuple[PageName, ...] = ()
    limit: int = LIMIT
    refresh: bool = False

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


def collect(
    wanted: Wanted, path: Path, wikis: Wikis, *, progress: Callable[[FetchProgress], None] | None = None
) -> Collected:
    """Fetch what is wanted into the folder. Resumable: the same call fetches no page twice.

    Raises FetchError where a wiki cannot be reached or has no such category; CorpusError, CorpusHeld, MissingExtra.
    """
    started = time.monotonic()
    folder = PageFolder(path)
    if wanted.nothing:
        with folder.opened():
            names, cut = dict.fromkeys(folder.names()), False
    else:
        names, cut = _names(wanted, wikis)
    outcomes = tuple(fetch_into(folder, names, wikis, refresh=wanted.refresh, progress=progress))
    return Collected(path, outcomes, cut, round(time.monotonic() - started, 1))


def _names(wanted: Wanted, wikis: Wikis) -> tuple[dict[PageName, None], bool]:
    """All wanted pages, and whether the limit left some out."""
    names = dict.fromkeys(wanted.names)
    taken = 0
    for name in _further(wanted, wikis):
        if name in names:
            continue
        if taken == wanted.limit:
            return names, True
        names[name] = None
        taken += 1
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
            raise FetchError(
                f"The category {category.title!r} of the wiki {category.language!r} holds no article.",
                hint="Check its name, and the language with --lang.",
            )
    yield from wanted.links_of
    for page in wanted.links_of:
        yield from (PageName(title, page.language) for title in wikis.of(page.language).links(page.title))
