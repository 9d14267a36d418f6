"""`corpus add` as users type it: folders and web pages side by side; nothing that is not public, however written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fakes import mediawiki_dumps
from fakes.command_line import Command
from fakes.web_sites import REFUSED, Answer, FakeNetwork, look_up, sending, serving
from iterative_rag.app import factory
from iterative_rag.settings import Settings
from iterative_rag.sources.web.page_client import Web

HTML = {"Content_Type": "text/html"}
PAGE = "<title>The lamp</title><body><nav>Menu</nav><p>The lamp of Gull Point was lit in 1857.</p></body>"


@pytest.fixture
def pages() -> dict[str, Answer]:
    """What the site serves, by path."""
    return {"/lamp": sending(PAGE.encode(), **HTML)}


@pytest.fixture
def host(pages: dict[str, Answer]) -> Iterator[str]:
    nothing = sending(b"nothing here", 404)
    with serving(lambda handler: pages.get(handler.path, nothing)(handler)) as (host, _):
        yield host


@pytest.fixture
def add(host: str, run: Command, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """The command in this process: no option lets it reach loopback, so the test lends it the switch."""
    real = factory.fetch_web_pages
    monkeypatch.setattr(
        factory, "fetch_web_pages", lambda urls, **more: real(urls, web=Web("tests/1", allow={host}), **more)
    )
    return lambda *arguments: run("corpus", "add", *arguments)


def test_a_page_and_a_folder_into_one_corpus(host: str, add: Callable[..., Any], run: Command, tmp_path: Path) -> None:
    (tmp_path / "articles").mkdir()
    (tmp_path / "articles" / "Heron.md").write_text("# Heron\n\nThe Heron is a ship.\n")
    done = add("articles", f"http://{host}/lamp", "--corpus", "mine")
    assert (done.code, done.err) == (0, "")
    assert f"The lamp  http://{host}/lamp" in done.out
    assert "2 added, 0 changed" in done.out
    shown = run("show", "The lamp", "--corpus", "mine")
    assert shown.out == "# The lamp\n\nThe lamp of Gull Point was lit in 1857.\n"
    assert "was lit in 1857" in run("search", "lamp lit", "--corpus", "mine", "-n", "1").out


def test_json_is_one_object_of_a_stable_form(host: str, add: Callable[..., Any], tmp_path: Path) -> None:
    done = add(f"http://{host}/lamp#top", f"http://{host}/gone", "--corpus", "mine", "--json")
    found = json.loads(done.out)
    assert (done.code, done.err) == (4, "")
    assert found["indexed"].pop("seconds") >= 0
    file, url = tmp_path / "home" / "pages" / "mine" / "web" / "The_lamp.md", f"http://{host}"
    counts = {"added": 1, "changed": 0, "unchanged": 0, "removed": 0, "passages": 1}
    assert found == {
        "corpus": "mine",
        "pages": [{"asked": f"{url}/lamp", "url": f"{url}/lamp", "title": "The lamp", "file": str(file)}],
        "skipped": [{"source": f"{url}/gone", "reason": f"{url}/gone answered with status 404. Check the address."}],
        "indexed": {**counts, "skipped": [], "not_read": {}},
    }


@pytest.mark.parametrize("url", [*REFUSED[::4], "HTTP:/etc/passwd", "https:127.0.0.1"])
def test_no_address_that_is_not_public_is_connected_to(
    url: str, run: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    network = FakeNetwork()
    real = factory.fetch_web_pages
    web = Web("tests/1", resolve=look_up, sockets=network)
    monkeypatch.setattr(factory, "fetch_web_pages", lambda urls, **more: real(urls, web=web, **more))
    done = run("corpus", "add", url, "--ignore-robots")
    assert done.code == 4
    assert url.partition("#")[0] in done.err
    assert network.connected == []
    assert not list((tmp_path / "home").rglob("*.md"))


# --- articles of an encyclopedia, by title ---------------------------------------------------


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    names = ("Upper Mill", "Lower Mill", "Far Mill", "Dry Mill")
    pages = [mediawiki_dumps.page(name, f"The {name} grinds.", number) for number, name in enumerate(names, 1)]
    return mediawiki_dumps.dump(
        tmp_path, *pages, mediawiki_dumps.page("Old Mill", to="Far Mill", number=9), name="wiki.xml.bz2"
    )


@pytest.fixture
def take(run: Command, wiki: Path, tmp_path: Path) -> Callable[..., Any]:
    """`corpus add wiki.xml.bz2 --titles FILE` with these titles."""

    def call(*titles: str, options: tuple[str, ...] = ()) -> Any:
        (tmp_path / "list.txt").write_text("\ufeff" + "\n".join(titles) + "\n\n", encoding="utf-8")
        return run("corpus", "add", str(wiki), "--titles", "list.txt", "--corpus", "mills", *options)

    return call


def held(run: Command) -> set[str]:
    names = ("Upper Mill", "Lower Mill", "Far Mill", "Dry Mill")
    return {name for name in names if run("show", name, "--corpus", "mills").code == 0}


def test_a_list_of_titles_takes_these_articles_and_says_what_is_not_there(
    take: Callable[..., Any], run: Command
) -> None:
    done = take("lower_Mill", "Old Mill", "Nowhere", "lower_Mill")
    assert done.code == 0
    assert "2 added" in done.out
    assert "Nowhere: The dump has no article of this title." in done.err
    assert "1 of 3 titles matched no article: 'Nowhere'" in done.err
    assert held(run) == {"Lower Mill", "Far Mill"}


def test_indexing_again_brings_the_chosen_articles_up_to_date(
    take: Callable[..., Any], run: Command, wiki: Path, tmp_path: Path
) -> None:
    take("Upper Mill", "Dry Mill")
    assert factory.stale("mills", Settings()).roots == ()
    changed = [mediawiki_dumps.page("Upper Mill", "It has burnt down.", 1), mediawiki_dumps.page("Far Mill", "New.", 3)]
    mediawiki_dumps.dump(tmp_path, *changed, name="wiki.xml.bz2")
    stale = factory.stale("mills", Settings())
    assert (stale.new, stale.changed, stale.gone) == (0, 1, 1)
    done = run("index", str(wiki), "--corpus", "mills")
    assert "0 added, 1 changed, 0 unchanged, 1 removed" in done.out
    assert held(run) == {"Upper Mill"}


@pytest.mark.parametrize(
    ("content", "source", "words"),
    [
        (b" \n\n", "wiki.xml.bz2", "no title"),
        (None, "wiki.xml.bz2", "cannot be read"),
        (b"Upper Mill", "notes", "of one .zim"),
    ],
)
def test_lists_that_cannot_be_followed(
    content: bytes | None, source: str, words: str, run: Command, wiki: Path, tmp_path: Path
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("A note.")
    if content is not None:
        (tmp_path / "list.txt").write_bytes(content)
    done = run("corpus", "add", source, "--titles", "list.txt", "--corpus", "mills")
    assert done.code == 2
    assert words in done.err
