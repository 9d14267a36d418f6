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
        ("1,640<sup>3</sup> people, 7–6<sup>(7–4)</sup>", "1,640[3] people, 7–6(7–4)"),
        ('Skerry<sup><a href="#fn1">1</a></sup> in 1951<sup>12</sup>', "Skerry[1] in 1951[12]"),
        ("75<sup>*</sup> or 80<sup>1,2</sup> or 1,200<sup>a</sup>", "75[*] or 80[1,2] or 1,200[a]"),
        ("10<sup>6</sup> m<sup>2</sup>, 3×10<sup>&minus;6</sup>, x<sup>n+1</sup>", "10^6 m², 3×10^-6, x^(n+1)"),
        ("2<sup>nd</sup>, XIX<sup>e</sup>, 20<sup>o</sup>C, Velm<sup>TM</sup>", "2nd, XIXe, 20°C, Velm TM"),
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
        ('costs <i class="old">90</i> 75 euro', "costs ~~90~~ 75 euro"),
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
        ('<ol style="list-style-type: upper-roman" start=9><li>Gull<li>Auk</ol>', ["IX. Gull", "X. Auk"]),
        ("<ul><li>Gull<ol type=i start=4><li>Auk<li>Tern</ol></ul>", ["- Gull", "  iv. Auk", "  v. Tern"]),
    ],
)
def test_lists_keep_their_numbers(tmp_path: Path, html: str, lines: list[str]) -> None:
    page = only(written(tmp_path / "a.html", f"<h1>T</h1>{html}"))
    assert [line for line in page.text.splitlines()[1:] if line] == lines
