"""HTML files: a page is its text with its tables, and nothing around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.formats.reading import PAGE, only, written
from tests.tables import table


def test_a_page_is_its_text_with_its_tables_and_nothing_around_it(tmp_path: Path) -> None:
    page = only(written(tmp_path / "a.html", PAGE))
    assert (page.title, page.url) == ("Velm Tower", "https://towers.example/velm")
    assert page.text == (
        "# Velm Tower\n\nBuilt in 1911, it is 10^2 m high.\n\n"
        "| Part | Height |\n|---|---|\n| Lower | 31 m |\n| Lower | 9 m |\n"
    )


@pytest.mark.parametrize(("html", "text"), table(__file__, "raised"))
def test_raised_and_lowered_characters_stay_apart(tmp_path: Path, html: str, text: str) -> None:
    assert only(written(tmp_path / "a.html", f"<h1>T</h1><p>{html}.</p>")).text == f"# T\n\n{text}.\n"


@pytest.mark.parametrize(("html", "text"), table(__file__, "struck"))
def test_struck_text_says_that_it_is_struck(tmp_path: Path, html: str, text: str) -> None:
    sheet = "<style>p {color: red} .old, .gone { text-decoration: line-through }</style>"
    page = only(written(tmp_path / "a.html", f"{sheet}<h1>T</h1><div>{html}</div>"))
    assert page.text == f"# T\n\n{text}\n"


@pytest.mark.parametrize(("html", "lines"), table(__file__, "lists"))
def test_lists_keep_their_numbers(tmp_path: Path, html: str, lines: list[str]) -> None:
    page = only(written(tmp_path / "a.html", f"<h1>T</h1>{html}"))
    assert [line for line in page.text.splitlines()[1:] if line] == lines


@pytest.mark.parametrize(("html", "text"), table(__file__, "shown"))
def test_what_a_page_shows_is_its_text_and_what_leads_elsewhere_is_not(tmp_path: Path, html: str, text: str) -> None:
    page = only(written(tmp_path / "a.html", f"<h1>T</h1><p>Words.</p>{html}"))
    assert page.text == f"# T\n\nWords.\n\n{text}".rstrip() + "\n"


LANGUAGES = "<ul>" + "".join(f"<li><a lang=x{n} href=/x{n}>Language {n}</a>" for n in range(90)) + "</ul>"
ARTICLE = """<div class="mw-parser-output"><p>The Tern is a
tug<sup class="reference" id="cite_ref-1"><a>[1]</a></sup>.</p>
<h2><span class="mw-headline">History</span><span class="mw-editsection">[<a>edit</a>]</span></h2><p>Built in 1931.</p>
<div class="navbox"><ul><li><a>Auk</a></ul></div></div>"""


@pytest.mark.parametrize(
    "body",
    [
        f"""<div id="mw-page-base"></div><div id="content" role="main"><h1 id="firstHeading">Tern (tug)</h1>
        <div id="bodyContent"><div id="siteSub">From the free encyclopedia</div><div id="contentSub">2 notes</div>
        <div id="mw-content-text" lang="en">{ARTICLE}<div class="printfooter">Retrieved from 5</div></div>
        <div id="catlinks" class="catlinks">Categories: <a>Tugs</a></div></div></div>
        <div id="mw-navigation"><h2>Navigation menu</h2><div id="p-lang" role="navigation">{LANGUAGES}</div></div>
        <div id="footer"><ul><li>This page was last edited on 3 May 2014.</li></ul></div>""",
        f"""<header class="vector-header"><input type="search" value="x"><ul><li><a>Log in</a></ul></header>
        <main id="content"><header class="mw-body-header"><nav>{LANGUAGES}</nav><h1 id="firstHeading"><span>Tern (tug)
        </span></h1><div id="p-lang-btn"><label>90 languages</label><div>{LANGUAGES}</div></div></header>
        <div id="bodyContent"><div id="siteSub">From the free encyclopedia</div>
        <div id="mw-content-text">{ARTICLE}</div></div></main><footer><p>Edited 3 May 2024.</p></footer>""",
    ],
)
def test_a_saved_wiki_page_is_its_article(tmp_path: Path, body: str) -> None:
    html = f"<!doctype html><title>Tern (tug) - The free encyclopedia</title><body>{body}"
    page = only(written(tmp_path / "saved.html", html))
    assert page.title == "Tern (tug)"
    assert page.text == "# Tern (tug)\n\nThe Tern is a tug.\n\n## History\n\nBuilt in 1931.\n"
