"""HTML files: a page is its text with its tables, and nothing around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sources.formats.reading import PAGE, only, written


def test_a_page_is_its_text_with_its_tables_and_nothing_around_it(tmp_path: Path) -> None:
    page = only(written(tmp_path / "a.html", PAGE))
    assert (page.title, page.url) == ("Velm Tower", "https://towers.example/velm")
    assert page.text == (
        "# Velm Tower\n\nBuilt in 1911, it is 10^2 m high.\n\n"
        "| Part | Height |\n|---|---|\n| Lower | 31 m |\n| Lower | 9 m |\n"
    )


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>From the title</title><p>x", "From the title"),
        ("<h1>From the <i>heading</i></h1><p>x", "From the heading"),
        ("<p>x", "a page"),
    ],
)
def test_a_page_has_a_title(tmp_path: Path, html: str, title: str) -> None:
    page = only(written(tmp_path / "a_page.htm", html))
    assert page.title == title
    assert page.text.count(title) == 1


def test_a_page_says_its_encoding(tmp_path: Path) -> None:
    html = '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Miasto Łódź.'
    assert "Miasto Łódź." in only(written(tmp_path / "a.html", html.encode("iso-8859-2"))).text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("1,640<span style='vertical-align: super'>3</span> people", "1,640[3] people"),
        ("1,640<sup>3</sup> people, 7–6<sup>(7–4)</sup>", "1,640[3] people, 7–6[7–4]"),
        ('Skerry<sup><a href="#fn1">1</a></sup> in 1951<sup>12</sup>', "Skerry[1] in 1951[12]"),
        ("75<sup>*</sup> or 80<sup>1,2</sup> or 1,200<sup>a</sup>", "75[*] or 80[1,2] or 1,200[a]"),
        ("10<sup>6</sup> m<sup>2</sup>, 3×10<sup>&minus;6</sup>, x<sup>n+1</sup>", "10^6 m², 3×10^-6, x^(n+1)"),
        ("2<sup>nd</sup>, XIX<sup>e</sup>, Velm<sup>TM</sup>", "2nd, XIXe, Velm TM"),
        ("H<sub>2</sub>SO<sub>4</sub>, SO<sub>4</sub><sup>2&minus;</sup>, <sup>14</sup>C", "H2SO4, SO4^2-, 14C"),
        ("the <sup>14</sup>C, 1010<sub>2</sub>, 5<sup>3</sup>/<sub>4</sub> in", "the 14C, 1010_2, 5 3/4 in"),
    ],
)
def test_raised_and_lowered_characters_stay_apart(tmp_path: Path, html: str, text: str) -> None:
    assert only(written(tmp_path / "a.html", f"<h1>T</h1><p>{html}.</p>")).text == f"# T\n\n{text}.\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("costs <del>90</del> <ins>75</ins> euro", "costs 75 euro"),
        ("costs <s>90 <b>or</b> so</s> 75 euro", "costs ~~90 or so~~ 75 euro"),
        ('costs <span style="TEXT-DECORATION: Line-Through red">90 </span>75 euro', "costs ~~90~~ 75 euro"),
        ("now:<del><p>One.</p><ul><li>Two<li>Three</ul></del>", "now:\n\n~~One.~~\n\n- ~~Two~~\n- ~~Three~~"),
    ],
)
def test_struck_text_says_that_it_is_struck(tmp_path: Path, html: str, text: str) -> None:
    sheet = "<style>p {color: red} .old, .gone { text-decoration: line-through }</style>"
    page = only(written(tmp_path / "a.html", f"{sheet}<h1>T</h1><div>{html}</div>"))
    assert page.text == f"# T\n\n{text}\n"


@pytest.mark.parametrize(
    ("html", "lines"),
    [
        ("<ol reversed><li>Gull<li>Auk<li>Tern</ol>", ["3. Gull", "2. Auk", "1. Tern"]),
        ("<ol start=4><li>Gull<li value=9><p>Auk</p><li>Tern</ol>", ["4. Gull", "9. Auk", "10. Tern"]),
        ("<ol start=0><li>Gull<li>Auk</ol>", ["0. Gull", "1. Auk"]),
        ("<ol type=a><li>Gull<li>Auk</ol>", ["a. Gull", "b. Auk"]),
        ("<ul><li>Gull<ol type=i start=4><li>Auk<li>Tern</ol></ul>", ["- Gull", "  iv. Auk", "  v. Tern"]),
    ],
)
def test_lists_keep_their_numbers(tmp_path: Path, html: str, lines: list[str]) -> None:
    page = only(written(tmp_path / "a.html", f"<h1>T</h1>{html}"))
    assert [line for line in page.text.splitlines()[1:] if line] == lines


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<aside class=warning><p>Never run the pump dry.</p></aside>", "Never run the pump dry."),
        (
            "<form action=/vote><p>Motion 12: closed to lorries.</p><button>Vote</button></form>",
            "Motion 12: closed to lorries.",
        ),
        ('<div class="menu"><p>Soup costs 5 euro.</p></div>', "Soup costs 5 euro."),
        ('<div class="menu"><ul><li><a href=/>Home</a><li><a href=/us>About us</a></ul></div>', ""),
        ("<nav><p>Pages</p><a href=/>Home</a> <a href=/us>About us</a> <a href=/b>Our blog</a></nav>", ""),
        ("<footer>By Ann Lee, 3 May 2020 <a href=/p>Privacy</a></footer>", "By Ann Lee, 3 May 2020 Privacy"),
        ("<div role=dialog>We use cookies to improve 2 things.<button>Accept</button></div>", ""),
        ("<form><label>Search</label><input type=search value=x><button>Go</button></form>", ""),
        ("<details><summary>Why?</summary><p>It has 12 valves.</p></details>", "**Why?**\n\nIt has 12 valves."),
        ("<h3><button>What is it?</button></h3><p>A tug.</p>", "### What is it?\n\nA tug."),
        ("<noscript><p>It has 77 ships.</p></noscript>", "It has 77 ships."),
        (
            "<figure><table><tr><th>A<th>B<tr><td>1<td>2</table><figcaption>Ships</figcaption></figure>",
            "| A | B |\n|---|---|\n| 1 | 2 |\n\nShips",
        ),
        (
            "<figure><img src=a.png alt='Chart of 12 ships'><figcaption>Fig. 3</figcaption></figure>",
            "Chart of 12 ships\n\nFig. 3",
        ),
        ("<img src=a.png alt=logo><svg><title>icon</title><text>North</text><text>42 km</text></svg>", "North 42 km"),
        (
            "<p><ruby>漢<rt>kan</rt></ruby> <q>hi</q></p>",
            "漢(kan) “hi”",
        ),
        (
            "<p><math><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math> and <math><semantics><mi>x</mi>"
            "<annotation encoding='application/x-tex'>x_1</annotation></semantics></math></p>",
            "[formula] and x_1",
        ),
        (
            "<table><tr><th>Port<th>Ships<tr><td>Aldby<td>9<br>10<table><tr><td>old<td>new</table></table>",
            "| Port | Ships |\n|---|---|\n| Aldby | 9; 10; old; new |",
        ),
        (
            "<table><tfoot><tr><td>Sum<td>5</tfoot><thead><tr><th>A<th>B</thead><tbody><tr><td>x<td>2</tbody></table>",
            "| A | B |\n|---|---|\n| x | 2 |\n| Sum | 5 |",
        ),
        (
            "<ul class=references><li>Lee, A. (1999)</li></ul><div class=metadata>3 May</div>",
            "- Lee, A. (1999)\n\n3 May",
        ),
    ],
)  # fmt: skip
def test_what_a_page_shows_is_its_text_and_what_leads_elsewhere_is_not(tmp_path: Path, html: str, text: str) -> None:
    page = only(written(tmp_path / "a.html", f"<h1>T</h1><p>Words.</p>{html}"))
    assert page.text == f"# T\n\nWords.\n\n{text}".rstrip() + "\n"


FRAME = "<iframe srcdoc='<p>Tide tables</p>'></iframe>"


def test_a_form_may_be_wrapped_around_a_page(tmp_path: Path) -> None:
    html = "<form id=aspnetForm><input type=hidden value=x><h1>Robot Marlin</h1><p>It took 41 hours.</p></form>"
    page = only(written(tmp_path / "a.html", f"{html}{FRAME}"))
    assert (page.title, page.text) == ("Robot Marlin", "# Robot Marlin\n\nIt took 41 hours.\n")
    assert ("not read", "pages within the page: 1") in page.metadata


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
