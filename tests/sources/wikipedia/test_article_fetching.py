"""Many pages into a folder: each fault survived, nothing fetched twice, every title with its outcome."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.wikipedia_server import LICENCE, FakeTime, FakeWiki, Trouble, is_page
from iterative_rag.errors import FetchError
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.web.page_client import RetryPolicy, Web
from iterative_rag.sources.wikipedia.article_fetching import (
    IN_FLIGHT,
    NotFetched,
    Outcome,
    PageFolder,
    Stored,
    Wikis,
    fetch_pages,
)
from iterative_rag.sources.wikipedia.page_names import PageName, page_name
from iterative_rag.types import Document

AGENT = "tests/1 (tests@example.org)"
BUOYS = [f"Buoy {number}" for number in range(50)]


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        for title in BUOYS:
            running.add(
                title, f"<p>{title} floats.</p><table class=wikitable><tr><th>m</th></tr><tr><td>9</td></tr></table>"
            )
        yield running


@contextmanager
def wikis_of(wiki: FakeWiki, clock: FakeTime | None = None) -> Iterator[Wikis]:
    clock = clock or FakeTime()
    with Web(AGENT, allow={wiki.host}, seconds=20) as web:
        yield Wikis(web, RetryPolicy(sleep=clock.sleep), api=wiki.api)


def fetch(wiki: FakeWiki, path: Path, titles: list[str], clock: FakeTime | None = None) -> list[Outcome]:
    folder = PageFolder(path)
    with wikis_of(wiki, clock) as wikis, folder.opened():
        return list(fetch_pages([page_name(title) for title in titles], folder, wikis))


def texts(path: Path) -> dict[str, str]:
    return {one.title: one.text for one in Folder(path).documents() if isinstance(one, Document)}


def test_fifty_pages_whole_with_their_tables_and_origin(wiki: FakeWiki, tmp_path: Path) -> None:
    outcomes = fetch(wiki, tmp_path, BUOYS)
    assert all(isinstance(one, Stored) and one.fetched for one in outcomes)
    assert texts(tmp_path) == {title: f"# {title}\n\n{title} floats.\n\n| m |\n|---|\n| 9 |\n" for title in BUOYS}
    head = (tmp_path / "Buoy_7.md").read_text(encoding="utf-8").split("---")[1]
    assert f'url: "{wiki.url}/wiki/Buoy_7"\nrevision: "107"\nrevised: "2025-01-24T10:00:00Z"\n' in head
    assert f"licence: {LICENCE}\nlanguage: en\n" in head


def test_a_few_requests_are_in_flight_and_never_more(wiki: FakeWiki, tmp_path: Path) -> None:
    meeting = threading.Barrier(IN_FLIGHT)  # no page is sent before that many wait for theirs
    wiki.gate = lambda title: meeting.wait(20)
    outcomes = fetch(wiki, tmp_path, BUOYS[: 4 * IN_FLIGHT])
    assert {type(one) for one in outcomes} == {Stored}
    assert wiki.most_in_flight == IN_FLIGHT <= 3


def test_each_fault_on_the_way_is_survived(wiki: FakeWiki, tmp_path: Path) -> None:
    clock, turns = FakeTime(), itertools.count()
    wiki.hits = lambda asked: next(turns) % 4 == 0
    wiki.troubles.extend(
        [
            Trouble("status", 429, "11"),
            Trouble("maxlag", retry_after="5"),
            Trouble("status", 503),
            Trouble("cut"),
            Trouble("text"),
            Trouble("status", 500),
            Trouble("status", 502, "13"),
        ]
    )
    outcomes = fetch(wiki, tmp_path, BUOYS, clock)
    assert {type(one) for one in outcomes} == {Stored}
    assert set(texts(tmp_path)) == set(BUOYS)
    assert not wiki.troubles
    assert clock.now() >= 11 + 5 + 13


def test_what_is_there_is_not_asked_for(wiki: FakeWiki, tmp_path: Path) -> None:
    wiki.redirects["First buoy"] = ("Buoy 0", "")
    fetch(wiki, tmp_path, ["First buoy", "Buoy 1"])
    before = len(wiki.asked)
    outcomes = fetch(wiki, tmp_path, ["Buoy_1", "buoy 0", "First buoy"])
    assert [one.title for one in outcomes if isinstance(one, Stored) and not one.fetched] == [
        "Buoy 1",
        "Buoy 0",
        "Buoy 0",
    ]
    assert len(wiki.asked) == before


def test_titles_without_a_page_say_what_may_be_meant(wiki: FakeWiki, tmp_path: Path) -> None:
    wiki.add("Heron", disambiguation=True, links=("Heron (ship)", "Heron (bird)"))
    outcomes = fetch(wiki, tmp_path, ["Heron", "Buoyancy", "Bad [title]"])
    choices = ("Heron (ship)", "Heron (bird)")
    assert outcomes[0] == NotFetched(PageName("Heron"), "disambiguation", "Heron has several meanings.", choices)
    assert isinstance(outcomes[1], NotFetched)
    assert outcomes[1].nearest[:2] == ("Buoy 0", "Buoy 1")
    assert isinstance(outcomes[2], NotFetched)
    assert (outcomes[1].kind, outcomes[2].kind) == ("missing", "missing")
    assert "invalid character" in outcomes[2].reason
    assert not list(tmp_path.glob("*.md"))


def test_a_wiki_that_fails_for_good_ends_the_run(wiki: FakeWiki, tmp_path: Path) -> None:
    wiki.hits = is_page
    wiki.always = Trouble("error")
    with pytest.raises(FetchError, match="5 pages in a row") as raised:
        fetch(wiki, tmp_path, BUOYS)
    assert "again" in raised.value.hint
    assert sum(map(is_page, wiki.asked)) < 20
