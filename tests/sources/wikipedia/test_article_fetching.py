"""Many pages into a folder: each fault survived, nothing fetched twice, every title with its outcome."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fakes.wikipedia_server import LICENCE, FakeTime, FakeWiki, Trouble, is_page
from iterative_rag.errors import FetchError, MissingExtra, UsageError
from iterative_rag.errors.installation import install_command
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.web.page_client import Web, user_agent
from iterative_rag.sources.web.retry_policy import RetryPolicy
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
        yield Wikis(web, RetryPolicy(sleep=clock.sleep, now=clock.now), api=wiki.api)


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


def test_several_titles_of_one_page_fetch_it_once(wiki: FakeWiki, tmp_path: Path) -> None:
    wiki.redirects |= {"First buoy": ("Buoy 0", "The bell"), "Bell buoy": ("Buoy 0", "")}
    outcomes = fetch(wiki, tmp_path, ["Buoy 0", "First buoy", "Buoy_0#Paint", "Bell buoy"])
    assert {(one.name.title, one.title) for one in outcomes if isinstance(one, Stored)} == {
        ("Buoy 0", "Buoy 0"),
        ("First buoy", "Buoy 0"),
        ("Bell buoy", "Buoy 0"),
    }
    assert len(outcomes) == 3
    assert wiki.sent == Counter({"Buoy 0": 1})
    assert 'redirects: ["First buoy", "Bell buoy"]' in (tmp_path / "Buoy_0.md").read_text(encoding="utf-8")


def test_a_redirect_to_a_page_that_is_there_is_noted_in_it(wiki: FakeWiki, tmp_path: Path) -> None:
    fetch(wiki, tmp_path, ["Buoy 0"])
    wiki.redirects["First buoy"] = ("Buoy 0", "")
    (outcome,) = fetch(wiki, tmp_path, ["First buoy"])
    assert isinstance(outcome, Stored)
    assert not outcome.fetched
    assert wiki.sent == Counter({"Buoy 0": 1})
    assert fetch(wiki, tmp_path, ["First buoy"])[0] == outcome
    assert texts(tmp_path)["Buoy 0"].startswith("# Buoy 0\n")


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


def test_a_page_that_cannot_be_had_does_not_stop_the_others(wiki: FakeWiki, tmp_path: Path) -> None:
    wiki.hits = lambda asked: asked.get("oldid") == "103"
    wiki.always = Trouble("error")
    outcomes = fetch(wiki, tmp_path, BUOYS)
    (failed,) = [one for one in outcomes if isinstance(one, NotFetched)]
    assert failed.name.title == "Buoy 3"
    assert failed.kind == "failed"
    assert "nosuchrevid" in failed.reason
    assert len(texts(tmp_path)) == 49
    wiki.always = None
    assert sum(isinstance(one, Stored) and one.fetched for one in fetch(wiki, tmp_path, BUOYS)) == 1


def test_a_wiki_that_fails_for_good_ends_the_run(wiki: FakeWiki, tmp_path: Path) -> None:
    wiki.hits = is_page
    wiki.always = Trouble("error")
    with pytest.raises(FetchError, match="5 pages in a row") as raised:
        fetch(wiki, tmp_path, BUOYS)
    assert "again" in raised.value.hint
    assert sum(map(is_page, wiki.asked)) < 20


def test_each_language_has_its_wiki(tmp_path: Path) -> None:
    with FakeWiki() as wiki, Web(AGENT, allow={wiki.host}) as web:
        wiki.add("Heron")
        folder = PageFolder(tmp_path)
        wikis = Wikis(web, RetryPolicy(), api=wiki.url + "/{language}/w/api.php")
        with folder.opened(), pytest.raises(FetchError, match=r"/de/w/api\.php answered with status 404"):
            list(fetch_pages([PageName("Heron", "de")], folder, wikis))


@pytest.mark.parametrize("module", ["selectolax.lexbor", "html_to_markdown"])
def test_without_the_extra_nothing_is_asked(
    module: str, wiki: FakeWiki, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra) as raised:
        fetch(wiki, tmp_path, BUOYS)
    assert install_command("wikipedia") in raised.value.hint
    assert wiki.asked == []


def test_who_asks_names_a_contact() -> None:
    assert "(someone@example.org)" in user_agent("someone@example.org")
    assert "(https://example.org/me)" in user_agent(" https://example.org/me ")
    for contact in ("", "me", "a@b\r\nX: y", "(x@y)"):
        with pytest.raises(UsageError) as raised:
            user_agent(contact)
        assert "--contact" in raised.value.hint


KILLED = """
import sys
from pathlib import Path
from iterative_rag.sources.web.retry_policy import RetryPolicy
from iterative_rag.sources.web.page_client import Web
from iterative_rag.sources.wikipedia.article_fetching import Wikis, fetch_pages
from iterative_rag.sources.wikipedia.article_fetching import PageFolder
from iterative_rag.sources.wikipedia.page_names import page_name

host, folder, titles = sys.argv[1], PageFolder(Path(sys.argv[2])), sys.argv[3:]
with Web("tests/1 (tests@example.org)", allow={host}) as web, folder.opened():
    wikis = Wikis(web, RetryPolicy(), api=f"http://{host}/w/api.php")
    for outcome in fetch_pages(map(page_name, titles), folder, wikis):
        pass
"""


def test_killed_in_the_middle_it_goes_on_and_fetches_nothing_twice(wiki: FakeWiki, tmp_path: Path) -> None:
    """Killed twice, each time when all that was sent is stored and the next requests wait for their answers."""
    command = [sys.executable, "-c", KILLED, wiki.host, str(tmp_path), *BUOYS]
    for goal in (13, 30):
        killed = threading.Event()
        answers = threading.Semaphore(goal - wiki.sent.total())

        def gate(title: str, killed: threading.Event = killed, answers: threading.Semaphore = answers) -> None:
            if not answers.acquire(blocking=False):
                killed.wait(60)
                raise ConnectionError("nobody is there any more")

        wiki.gate = gate
        with subprocess.Popen(command) as process:
            while len(list(tmp_path.glob("*.md"))) < goal:
                assert process.poll() is None, "it ended before it was killed"
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
        killed.set()
        assert wiki.sent.total() == len(texts(tmp_path)) == goal
    (tmp_path / ".fetching-9").write_text("half a page")
    wiki.gate = lambda title: None
    subprocess.run(command, check=True, timeout=60)
    assert set(texts(tmp_path)) == set(BUOYS)
    assert wiki.sent == Counter(dict.fromkeys(BUOYS, 1))
    assert not list(tmp_path.glob(".fetching-*"))
