"""Web pages by URL -> Markdown files: what is kept of a page, what is refused and why, what robots.txt says."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes.loopback_server import Handler
from fakes.web_sites import REFUSED, Answer, FakeNetwork, look_up, sending, serving
from fakes.wikipedia_server import FakeTime
from iterative_rag.protocols import Skipped
from iterative_rag.sources import front_matter
from iterative_rag.sources.folder import open_source
from iterative_rag.sources.web.page_client import RetryPolicy, Web
from iterative_rag.sources.web.web_pages import WebFolder, WebPage, WebPages
from iterative_rag.types import Document

AGENT = "tests/1"
PAGE = """<!doctype html><html><head><title>The lamp of Gull Point | Lights</title><style>p {color: red}</style>
<script>var secret = 1;</script></head><body>
<header><a href="/">Home</a> <a href="/all">All lamps</a></header><nav><ul><li>Menu entry</li></ul></nav>
<main><header><h1>The lamp of Gull Point</h1></header><p>It was lit in <b>1857</b> by Mara&nbsp;Quill.</p>
<h2>Height</h2><table><tr><th>Part</th><th>m</th></tr><tr><td rowspan=2>Tower</td><td>9</td></tr>
<tr><td>12</td></tr></table><form>Subscribe</form><p style="display: none">hidden words</p></main>
<aside>Advertisement</aside><footer>Imprint</footer></body></html>"""
TEXT = """# The lamp of Gull Point

It was lit in 1857 by Mara Quill.

## Height

| Part | m |
|---|---|
| Tower | 9 |
| Tower | 12 |
"""
HTML = {"Content_Type": "text/html; charset=utf-8"}


def site(**pages: Answer) -> Answer:
    """A site of pages by name ("robots_txt" is /robots.txt); 404 for the rest."""
    named = {"/" + name.replace("_txt", ".txt"): answer for name, answer in pages.items()}

    def answer(handler: Handler) -> None:
        named.get(handler.path.partition("?")[0], sending(b"nothing here", 404))(handler)

    return answer


def html(text: str = PAGE) -> Answer:
    return sending(text.encode(), **HTML)


def fetch(web: Web, path: Path, *urls: str, ignore_robots: bool = False) -> list[WebPage | Skipped]:
    clock = FakeTime()
    pages = WebPages(web, ignore_robots=ignore_robots, retry=RetryPolicy(tries=3, sleep=clock.sleep))
    return list(pages.fetch(urls, WebFolder(path)))


def test_a_page_is_stored_as_its_readable_part_with_its_origin(tmp_path: Path) -> None:
    with serving(site(lamp=html())) as (host, asked), Web(AGENT, allow={host}) as web:
        (page,) = fetch(web, tmp_path, f"http://{host}/lamp#height")
    assert isinstance(page, WebPage)
    assert (page.title, page.url) == ("The lamp of Gull Point", f"http://{host}/lamp")
    assert asked == ["/robots.txt", "/lamp"]
    (document,) = open_source(tmp_path).documents()
    assert isinstance(document, Document)
    assert (document.title, document.text, document.url) == (page.title, TEXT, page.url)
    fields, _ = front_matter.split(page.place.read_text(encoding="utf-8"))
    assert set(fields) == {"title", "url", "fetched"}


def test_a_page_fetched_again_replaces_itself_and_is_found_by_what_led_to_it(tmp_path: Path) -> None:
    moved = sending(b"", 301, Location="/lamp")
    with (
        serving(site(lamp=html(), old=moved, other=html(PAGE.replace("1857", "1900")))) as (host, _),
        Web(AGENT, allow={host}) as web,
    ):
        fetch(web, tmp_path, f"http://{host}/old", f"http://{host}/other")
        assert len(list(tmp_path.glob("*.md"))) == 2  # of one title, but not of one address
        again = fetch(web, tmp_path, f"http://{host}/lamp", f"http://{host}/old")
    places = {one.place for one in again if isinstance(one, WebPage)}
    assert len(places) == 1
    assert len(list(tmp_path.glob("*.md"))) == 2
    fields, _ = front_matter.split(places.pop().read_text(encoding="utf-8"))
    assert fields["asked"] == (f"http://{host}/old",)


@pytest.mark.parametrize(
    ("body", "kind", "title", "text"),
    [
        (b"Plain * words.\r\n", "text/plain", "lamp notes", "Plain * words.\n"),
        (b"\n# The notes\n\nWords.\n", "text/markdown; charset=utf-8", "The notes", "\n# The notes\n\nWords.\n"),
        (b"---\ntitle: Named\n---\nWords.\n", "text/markdown", "Named", "Words.\n"),
        ("Möwe".encode("latin-1"), "text/plain; charset=iso-8859-1", "lamp notes", "Möwe"),
        ("Möwe".encode("utf-16"), "text/plain; charset=utf-8", "lamp notes", "Möwe"),
    ],
)
def test_text_stays_as_it_is(body: bytes, kind: str, title: str, text: str, tmp_path: Path) -> None:
    with serving(site(lamp_notes=sending(body, Content_Type=kind))) as (host, _), Web(AGENT, allow={host}) as web:
        (page,) = fetch(web, tmp_path, f"http://{host}/lamp_notes")
    assert isinstance(page, WebPage)
    assert page.title == title
    assert front_matter.split(page.place.read_text(encoding="utf-8"))[1] == text


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (sending(b"%PDF-1.7", Content_Type="application/pdf"), "It is application/pdf, not HTML"),
        (sending(b"words"), "of unknown type"),
        (sending(b"", **HTML), "holds no"),
        (html("<script>write('all of it')</script>"), "holds no"),
        (sending(b"no", 404, **HTML), "status 404"),
        (sending(b"no", 403, **HTML), "The site refuses robots"),
        (sending(b"no", 503, **HTML), "status 503"),
        (sending(b"", 204), "status 204"),
        (html("<div>" * 3000 + "deep" + "</div>" * 3000), "nested"),
        (sending(bytes(300_000), **HTML), "larger than the limit"),
        (sending(b"", 302, Location="http://10.0.0.1/"), "not a public host"),
        (sending(b"", 302, Location="/page"), "redirected more than"),
    ],
)
def test_what_is_no_page_has_its_reason_and_stops_no_other(answer: Answer, reason: str, tmp_path: Path) -> None:
    with serving(site(page=answer, lamp=html())) as (host, _), Web(AGENT, allow={host}, max_bytes=200_000) as web:
        bad, good = fetch(web, tmp_path, f"http://{host}/page", f"http://{host}/lamp")
    assert isinstance(bad, Skipped)
    assert bad.source == f"http://{host}/page"
    assert reason in bad.reason
    assert isinstance(good, WebPage)
    assert [place.name for place in tmp_path.glob("*.md")] == ["The_lamp_of_Gull_Point.md"]


# --- robots.txt ------------------------------------------------------------------------------

NOT_HERE = b"User-agent: *\nDisallow: /private\n"
NOT_US = b"User-agent: iterative-rag\nDisallow: /\n\nUser-agent: *\nAllow: /\n"


@pytest.mark.parametrize(
    ("rules", "path", "allowed"),
    [
        (sending(NOT_HERE), "/private", False),
        (sending(NOT_HERE), "/open", True),
        (sending(NOT_US), "/open", False),
        (sending(b"\xff\xfe no rules at all"), "/open", True),
        (sending(b"", 404), "/open", True),
        (sending(b"", 403), "/open", True),
        (sending(b"", 500), "/open", False),
        (sending(b"", 301, Location="/rules"), "/open", False),
    ],
)
@pytest.mark.parametrize("ignore", [False, True])
def test_what_robots_txt_says(rules: Answer, path: str, allowed: bool, ignore: bool, tmp_path: Path) -> None:
    pages = site(robots_txt=rules, private=html(), open=html(), rules=sending(NOT_US))
    with serving(pages) as (host, asked), Web(AGENT, allow={host}) as web:
        one, again = fetch(web, tmp_path, f"http://{host}{path}", f"http://{host}{path}?2", ignore_robots=ignore)
    if ignore or allowed:
        assert isinstance(one, WebPage)
        assert asked.count("/robots.txt") == (0 if ignore else 1)
    else:
        assert isinstance(one, Skipped)
        assert "--ignore-robots" in one.reason
        assert path not in asked
    assert type(again) is type(one)


# --- addresses -------------------------------------------------------------------------------


@pytest.mark.parametrize("ignore", [False, True])
def test_no_address_that_is_not_public_is_connected_to(ignore: bool, tmp_path: Path) -> None:
    network = FakeNetwork()
    with Web(AGENT, resolve=look_up, sockets=network) as web:
        results = fetch(web, tmp_path, *REFUSED, ignore_robots=ignore)
    assert len(results) == len({url.partition("#")[0] for url in REFUSED}) >= 40
    assert {type(one) for one in results} == {Skipped}
    assert network.connected == []
