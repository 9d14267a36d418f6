"""A wiki's API: what a title leads to, and every way in which an answer fails."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fakes.wikipedia_server import LICENCE, FakeTime, FakeWiki, Trouble
from iterative_rag.errors import FetchError
from iterative_rag.sources.web.page_client import RetryPolicy, Web
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
        yield MediaWiki(wiki.api, web, RetryPolicy(sleep=time.sleep))


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


@pytest.mark.parametrize("name", ["Lamps", "Category:Lamps", "category: Lamps"])
def test_a_category_is_listed_through_all_its_parts(name: str, wiki: FakeWiki, client: MediaWiki) -> None:
    wiki.categories["Lamps"] = [f"Lamp {number:02}" for number in range(25)]
    assert list(client.category(name)) == wiki.categories["Lamps"]
    assert sum(asked.get("list") == "categorymembers" for asked in wiki.asked) == 3
