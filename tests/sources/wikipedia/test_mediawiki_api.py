"""A wiki's API: what a title leads to, and every way in which an answer fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fakes.wikipedia_server import LICENCE, FakeTime, FakeWiki, Trouble
from iterative_rag.errors import FetchError
from iterative_rag.sources.web.page_client import Web
from iterative_rag.sources.web.retry_policy import RetryPolicy
from iterative_rag.sources.wikipedia.mediawiki_api import Disambiguation, FoundPage, MediaWiki, Missing

AGENT = "tests/1 (tests@example.org)"


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        running.add("Gull Point")
        running.add("Heron (ship)")
        running.add("Heron", disambiguation=True, links=("Heron (ship)", "Heron (bird)"))
        running.redirects["Gull Light"] = ("Gull Point", "The lamp")
        running.redirects["Old Gull Light"] = ("Gull Light", "")
        running.redirects["Here"] = ("There", "")
        running.redirects["There"] = ("Here", "")
        yield running


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def client(wiki: FakeWiki, time: FakeTime) -> Iterator[MediaWiki]:
    with Web(AGENT, allow={wiki.host}) as web:
        yield MediaWiki(wiki.api, web, RetryPolicy(sleep=time.sleep, now=time.now))


def test_what_a_title_leads_to(wiki: FakeWiki, client: MediaWiki) -> None:
    titles = ["gull_Point", "Old Gull Light", "Heron", "Nowhere", "A[b]", "A|B", "Here", "wikt:lamp"]
    found = dict(client.look_up(titles))
    url = f"{wiki.url}/wiki/Gull_Point"
    assert found["gull_Point"] == FoundPage("Gull Point", url, 100, "2025-01-17T10:00:00Z")
    assert found["Old Gull Light"] == found["gull_Point"]
    assert found["Heron"] == Disambiguation("Heron")
    reasons = {title: one.reason for title, one in found.items() if isinstance(one, Missing)}
    assert set(reasons) == {"Nowhere", "A[b]", "A|B", "Here", "wikt:lamp"}
    assert "invalid character" in reasons["A[b]"]
    assert "circle" in reasons["Here"]
    assert "another wiki (wikt)" in reasons["wikt:lamp"]
    assert len(wiki.asked) == 1


def test_answers_that_come_in_parts_are_put_together(wiki: FakeWiki, client: MediaWiki) -> None:
    wiki.split = True
    found = dict(client.look_up(["Gull Light", "Heron"]))
    assert isinstance(found["Gull Light"], FoundPage)
    assert isinstance(found["Heron"], Disambiguation)
    assert len(wiki.asked) == 2


def test_titles_are_asked_for_fifty_at_a_time(wiki: FakeWiki, client: MediaWiki) -> None:
    for number in range(120):
        wiki.add(f"Buoy {number}")
    found = dict(client.look_up([f"Buoy {number}" for number in range(120)]))
    assert {one.title for one in found.values() if isinstance(one, FoundPage)} == {
        f"Buoy {number}" for number in range(120)
    }
    assert len(wiki.asked) == 3


def test_long_titles_make_no_endless_address(wiki: FakeWiki, client: MediaWiki) -> None:
    titles = ["灯" * 80 + str(number) for number in range(40)]
    assert all(isinstance(one, Missing) for _, one in client.look_up(titles))
    assert all(len(asked["titles"].encode()) * 3 < 7000 for asked in wiki.asked)


def test_every_request_says_who_asks_and_yields_to_lag(wiki: FakeWiki, client: MediaWiki) -> None:
    client.licence()
    list(client.look_up(["Gull Point"]))
    client.html(100)
    assert wiki.agents == {AGENT}
    assert {asked["maxlag"] for asked in wiki.asked} == {"5"}


def test_the_licence_is_asked_once(wiki: FakeWiki, client: MediaWiki) -> None:
    assert client.licence() == client.licence() == LICENCE
    assert len(wiki.asked) == 1


@pytest.mark.parametrize("kind", ["status", "maxlag"])
def test_the_pause_that_the_wiki_asks_for_is_kept(kind: str, wiki: FakeWiki, client: MediaWiki, time: FakeTime) -> None:
    wiki.troubles.extend([Trouble(kind, 429, "17"), Trouble(kind, 429, "40")])
    assert client.html(100) == wiki.pages["Gull Point"].html
    assert time.pauses == pytest.approx([17, 40])
    assert len(wiki.asked) == 3


def test_lag_without_a_word_about_the_pause(wiki: FakeWiki, client: MediaWiki, time: FakeTime) -> None:
    wiki.troubles.append(Trouble("maxlag"))
    client.html(100)
    assert time.pauses == [5]


@pytest.mark.parametrize("kind", ["status", "cut", "text"])
def test_faults_that_pass_are_sat_out_with_growing_pauses(
    kind: str, wiki: FakeWiki, client: MediaWiki, time: FakeTime
) -> None:
    wiki.troubles.extend([Trouble(kind)] * 4)
    assert client.html(100)
    assert len(time.pauses) == 4
    assert time.pauses == sorted(time.pauses)
    assert time.pauses[-1] > 4 * time.pauses[0]


def test_faults_that_do_not_pass_end(wiki: FakeWiki, client: MediaWiki, time: FakeTime) -> None:
    wiki.always = Trouble("status", 503)
    with pytest.raises(FetchError, match="503") as raised:
        client.html(100)
    assert len(wiki.asked) == 6
    assert len(time.pauses) == 5
    assert raised.value.hint


def test_a_pause_too_long_to_wait_is_left_to_the_user(wiki: FakeWiki, client: MediaWiki, time: FakeTime) -> None:
    wiki.always = Trouble("status", 429, "86400")
    with pytest.raises(FetchError, match="86,400 s") as raised:
        client.html(100)
    assert "again" in raised.value.hint
    assert time.pauses == []


@pytest.mark.parametrize(
    ("trouble", "message"),
    [(Trouble("status", 404), "404"), (Trouble("status", 403), "403"), (Trouble("error"), "no revision with ID 1")],
)
def test_what_will_not_pass_is_not_asked_again(
    trouble: Trouble, message: str, wiki: FakeWiki, client: MediaWiki, time: FakeTime
) -> None:
    wiki.always = trouble
    with pytest.raises(FetchError, match=message):
        client.html(100)
    assert len(wiki.asked) == 1
    assert time.pauses == []


def test_each_pause_is_told_with_its_reason(wiki: FakeWiki, time: FakeTime) -> None:
    told: list[tuple[float, str]] = []
    retry = RetryPolicy(sleep=time.sleep, now=time.now, on_pause=lambda pause, error: told.append((pause, str(error))))
    wiki.troubles.append(Trouble("status", 429, "17"))
    with Web(AGENT, allow={wiki.host}) as web:
        MediaWiki(wiki.api, web, retry).html(100)
    assert [pause for pause, _ in told] == [17]
    assert "429" in told[0][1]


def test_stopping_ends_the_waiting(wiki: FakeWiki) -> None:
    """Without a sleep of the test's own: the first pause would take a second, its end comes at once."""
    wiki.always = Trouble("status", 429, "200")
    retry = RetryPolicy(on_pause=lambda pause, error: retry.stop())
    with Web(AGENT, allow={wiki.host}) as web, pytest.raises(FetchError, match="Stopped"):
        MediaWiki(wiki.api, web, retry).html(100)
    assert len(wiki.asked) == 1


@pytest.mark.parametrize("name", ["Lamps", "Category:Lamps", "category: Lamps"])
def test_a_category_is_listed_through_all_its_parts(name: str, wiki: FakeWiki, client: MediaWiki) -> None:
    wiki.categories["Lamps"] = [f"Lamp {number:02}" for number in range(25)]
    assert list(client.category(name)) == wiki.categories["Lamps"]
    assert sum(asked.get("list") == "categorymembers" for asked in wiki.asked) == 3


def test_links_are_those_to_pages_that_there_are(wiki: FakeWiki, client: MediaWiki) -> None:
    for number in range(25):
        wiki.add(f"Lamp {number:02}")
    wiki.add("Lamps", links=[f"Lamp {number:02}" for number in range(30)])
    wiki.redirects["All lamps"] = ("Lamps", "")
    assert list(client.links("All lamps")) == [f"Lamp {number:02}" for number in range(25)]
    assert list(client.links("Nowhere")) == []
