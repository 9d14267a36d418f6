"""Titles, categories and links of pages -> pages in a folder, within a limit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fakes.wikipedia_server import FakeTime, FakeWiki
from iterative_rag.sources.web.page_client import RetryPolicy, Web
from iterative_rag.sources.wikipedia.article_fetching import Collected, Progress, Wanted, Wikis, collect
from iterative_rag.sources.wikipedia.page_names import PageName

AGENT = "tests/1 (tests@example.org)"


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        for number in range(30):
            near = [f"Lamp {number + step}" for step in (1, 2) if number + step < 30]
            running.add(f"Lamp {number}", links=[*near, "Lamp of tomorrow"])
        running.categories["Lamps"] = [f"Lamp {number}" for number in range(30)]
        yield running


@pytest.fixture
def collecting(wiki: FakeWiki, tmp_path: Path) -> Iterator[Callable[..., Collected]]:
    clock = FakeTime()
    with Web(AGENT, allow={wiki.host}) as web:

        def call(progress: Progress | None = None, **wanted: object) -> Collected:
            wikis = Wikis(web, RetryPolicy(sleep=clock.sleep), api=wiki.api)
            return collect(Wanted(**wanted), tmp_path, wikis, progress=progress)  # type: ignore[arg-type]

        yield call


def titles(found: Collected) -> set[str]:
    return {one.title for one in found.stored.values()}


def lamps(*numbers: int) -> set[str]:
    return {f"Lamp {number}" for number in numbers}


def test_a_category_within_the_limit_and_beyond(wiki: FakeWiki, collecting: Callable[..., Collected]) -> None:
    category = (PageName("Lamps"),)
    some = collecting(categories=category, limit=12)
    assert (titles(some), some.cut) == (lamps(*range(12)), True)
    assert sum(asked.get("list") == "categorymembers" for asked in wiki.asked) == 2  # parts of ten; the third is not
    every = collecting(categories=category, limit=30)
    assert (titles(every), every.cut, every.fetched) == (lamps(*range(30)), False, 18)
    assert wiki.sent == Counter(dict.fromkeys(lamps(*range(30)), 1))


def test_the_limit_never_cuts_what_is_named(collecting: Callable[..., Collected]) -> None:
    names = tuple(PageName(f"Lamp {number}") for number in (20, 21, 22))
    found = collecting(names=names, categories=(PageName("Lamps"),), limit=1)
    assert (titles(found), found.cut) == (lamps(20, 21, 22, 0), True)


def test_links_are_followed_to_pages_that_are_written(collecting: Callable[..., Collected]) -> None:
    found = collecting(links_of=(PageName("Lamp 5"),))
    assert titles(found) == lamps(5, 6, 7)
    assert found.missing == ()  # pages that nobody has written are not asked for
