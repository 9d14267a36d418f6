"""`corpus fetch` as users type it, from a wiki on loopback: whole, with every fault, killed."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes.command_line import Command
from fakes.wikipedia_server import LICENCE, FakeTime, FakeWiki, Trouble, is_page
from iterative_rag.app import factory
from iterative_rag.sources import front_matter
from iterative_rag.sources.web.page_client import RetryPolicy

BUOYS = [f"Buoy {number}" for number in range(48)]
PAGES = {"Gull Point", "Mara Quill", *BUOYS}


@pytest.fixture
def wiki() -> Iterator[FakeWiki]:
    with FakeWiki() as running:
        running.add("Gull Point", "<p>Gull Point is a cape. Its lamp was lit by Mara Quill.</p>", links=BUOYS[:3])
        running.add("Mara Quill", "<p>Mara Quill kept the light.</p>")
        for title in BUOYS:
            running.add(title, f"<p>{title} floats.</p>")
        running.add("Heron", disambiguation=True, links=["Heron (ship)", "Heron (bird)"])
        running.redirects |= {"Gull Light": ("Gull Point", "The lamp"), "Keeper": ("Mara Quill", "")}
        running.categories["Buoys"] = BUOYS
        yield running


@pytest.fixture
def clock() -> FakeTime:
    return FakeTime()


@pytest.fixture
def fetch(
    wiki: FakeWiki, clock: FakeTime, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Any]
) -> Callable[..., Any]:
    """The command in this process: no option lets it reach loopback, so the test lends it the switch."""
    real = factory.fetch_wikipedia

    def local(wanted: Any, **more: Any) -> Any:
        retry = RetryPolicy(sleep=clock.sleep, on_pause=more.pop("on_pause"))
        return real(wanted, allow={wiki.host}, retry=retry, **more)

    monkeypatch.setattr(factory, "fetch_wikipedia", local)
    contact = ("--contact", "me@example.org")
    return lambda *arguments: run("corpus", "fetch", *arguments, "--api", wiki.api, *contact)


def folder(tmp_path: Path, corpus: str = "default") -> Path:
    return tmp_path / "home" / "pages" / corpus / "wikipedia"


def stored(tmp_path: Path, corpus: str = "default") -> set[str]:
    places = folder(tmp_path, corpus).glob("*.md")
    return {str(front_matter.split(place.read_text(encoding="utf-8"))[0]["title"]) for place in places}


def test_titles_and_addresses_become_a_corpus_to_ask(
    wiki: FakeWiki, fetch: Callable[..., Any], run: Command, tmp_path: Path
) -> None:
    done = fetch("https://en.m.wikipedia.org/wiki/Gull%20Light#The_lamp", "mara_Quill", "--corpus", "lights")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"2 pages in {folder(tmp_path, 'lights')}, 2 fetched now in")
    assert "2 added, 0 changed" in done.out
    text = (folder(tmp_path, "lights") / "Gull_Point.md").read_text(encoding="utf-8")
    fields, body = front_matter.split(text)
    assert body == "# Gull Point\n\nGull Point is a cape. Its lamp was lit by Mara Quill.\n"
    assert (fields["title"], fields["licence"], fields["language"]) == ("Gull Point", LICENCE, "en")
    assert (fields["url"], fields["revision"]) == (f"{wiki.url}/wiki/Gull_Point", "100")
    assert fields["redirects"] == ("Gull Light",)
    assert {"revised", "fetched"} <= fields.keys()
    assert "lit by Mara Quill" in run("search", "who lit the lamp", "--corpus", "lights", "-n", "1").out
    assert "(me@example.org)" in wiki.agents.pop()


def test_fifty_pages_with_every_fault_on_the_way(
    wiki: FakeWiki, clock: FakeTime, fetch: Callable[..., Any], tmp_path: Path
) -> None:
    turns = itertools.count()
    wiki.hits = lambda asked: next(turns) % 4 == 0
    faults = [
        Trouble("status", 429, "11"), Trouble("maxlag", retry_after="5"), Trouble("status", 503), Trouble("cut"),
        Trouble("text"), Trouble("status", 500), Trouble("status", 502, "13"), Trouble("maxlag"), Trouble("drop"),
    ]  # fmt: skip
    wiki.troubles.extend(faults)
    done = fetch("Gull Light", "Keeper", "--category", "Buoys", "--json")
    found = json.loads(done.out)
    assert done.code == 0
    assert len(found["pages"]) == found["fetched"] == len(PAGES) == 50
    assert stored(tmp_path) == PAGES
    assert not wiki.troubles
    assert wiki.sent == Counter(dict.fromkeys(PAGES, 1))
    assert clock.now() >= 11 + 5 + 13
    assert len([line for line in done.err.splitlines() if line.startswith("Waiting ")]) == len(faults)
    assert wiki.most_in_flight <= 3


def test_pages_that_there_are_not_say_what_to_type(wiki: FakeWiki, fetch: Callable[..., Any], tmp_path: Path) -> None:
    wiki.add("Möwe")
    done = fetch("Heron", "Gull Piont", "[no]", "Mara Quill", "--lang", "de", "--corpus", "birds")
    assert done.code == 4
    lines = done.err.splitlines()
    assert "Heron: Heron has several meanings. It may be:" in lines
    assert "  'Heron (ship)'" in lines
    assert "Gull Piont: There is no such page. It may be:" in lines
    assert "  'Gull Point'" in lines
    assert "[no]: The title holds an invalid character." in lines
    assert stored(tmp_path, "birds") == {"Mara Quill"}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "nothing to fetch"),
        (("https://example.org/wiki/X",), 2, "not an address of Wikipedia"),
        (("Gull Point", "--corpus", "../outside"), 2, "cannot be the name"),
        (("Gull Point", "--lang", "en.example.org/"), 2, "not a language of Wikipedia"),
        (("--category", "Nothing"), 4, "holds no article"),
        (("Nowhere at all",), 4, "There is no such page"),
    ],
)
def test_what_cannot_be_fetched(
    arguments: tuple[str, ...], code: int, words: str, wiki: FakeWiki, fetch: Callable[..., Any]
) -> None:
    done = fetch(*arguments)
    assert done.code == code
    assert words in done.err
    assert not wiki.sent


# --- killed ----------------------------------------------------------------------------------

COMMAND = """
import functools, sys
from iterative_rag.app import factory
from iterative_rag.cli import main

host = sys.argv[1]
factory.fetch_wikipedia = functools.partial(factory.fetch_wikipedia, allow={host})
api = f"http://{host}/w/api.php"
main(["corpus", "fetch", "Gull Light", "Keeper", "--category", "Buoys", "--api", api, "--contact", "me@example.org"])
"""


def test_killed_in_the_middle_the_same_command_goes_on(wiki: FakeWiki, tmp_path: Path, run: Command) -> None:
    """Killed twice, each time when all that was sent is stored and the next requests wait for their answers."""
    command = [sys.executable, "-c", COMMAND, wiki.host]
    for goal in (13, 30):
        killed = threading.Event()
        answers = threading.Semaphore(goal - wiki.sent.total())

        def gate(title: str, killed: threading.Event = killed, answers: threading.Semaphore = answers) -> None:
            if not answers.acquire(blocking=False):
                killed.wait(60)
                raise ConnectionError("nobody is there any more")

        wiki.gate = gate
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while len(list(folder(tmp_path).glob("*.md"))) < goal:
                assert process.poll() is None, "it ended before it was killed"
                time.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
        killed.set()
        assert wiki.sent.total() == len(stored(tmp_path)) == goal
    wiki.gate = lambda title: None
    subprocess.run(command, check=True, timeout=120)
    assert stored(tmp_path) == PAGES
    assert wiki.sent == Counter(dict.fromkeys(PAGES, 1))  # 0 pages twice
    assert sum(map(is_page, wiki.asked)) <= len(PAGES) + 2 * 3  # those that nobody waited for any more
    status = json.loads(run("corpus", "status", "default", "--json").out)
    assert status["corpora"][0]["documents"] == len(PAGES)


def test_a_wiki_on_this_machine_is_fetched_from_where_the_user_says_so(
    wiki: FakeWiki, run: Callable[..., Any], tmp_path: Path
) -> None:
    typed = ("corpus", "fetch", "Gull Point", "Gull", "--api", wiki.api, "--contact", "me@example.org")
    refused = run(*typed)
    assert refused.code == 4
    assert "not a public host" in refused.err
    for told in (refused.err, run("corpus", "add", wiki.api).err):  # which has no such option
        assert "--allow-private-hosts of `corpus fetch`" in " ".join(told.split())
    assert not wiki.asked
    done = run(*typed, "--allow-private-hosts")
    assert "1 page in" in done.out
    assert stored(tmp_path) == {"Gull Point"}


def test_the_package_looks_titles_up_and_offers_what_may_be_meant(
    wiki: FakeWiki, fetch: Callable[..., Any], tmp_path: Path
) -> None:
    pytest.importorskip("mediawiki", reason="needs the extra wikipedia-package")
    wiki.revise("Gull Point", "<table class=wikitable><tr><th>Lamp</th></tr><tr><td>1857</td></tr></table>")
    done = fetch("Gull Light", "Mara Quil", "Heron", "--via", "wikipedia")
    assert done.code == 4
    assert stored(tmp_path) == {"Gull Point"}
    assert "| 1857 |" in (folder(tmp_path) / "Gull_Point.md").read_text(encoding="utf-8")
    for title in ("Mara Quill", "Heron (ship)", "Heron (bird)"):
        assert f"  '{title}'" in done.err
    assert all("me@example.org" in agent for agent in wiki.agents), "the package asks through our own client"
    assert fetch("--search", "mara", "--via", "wikipedia").code == 0
    assert stored(tmp_path) == {"Gull Point", "Mara Quill"}
