"""Wikitext as Markdown: what the page would show stays, what only a wiki can make of it goes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.errors import FetchError
from iterative_rag.sources.dumps.wikitext import MAX_CHARS
from iterative_rag.sources.dumps.wikitext import to_markdown as converted
from iterative_rag.sources.wikipedia import page_markdown
from tests.nightly import sliced
from tests.tables import table


def to_markdown(wikitext: str, title: str) -> str:
    return converted(wikitext, title)[0]


def body(wikitext: str) -> str:
    """The Markdown of a page without its title."""
    text = to_markdown(wikitext, "T")
    assert text.startswith("# T\n")
    return text.removeprefix("# T\n").strip()


# --- prose -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("wikitext", "said"), table(__file__, "lines"))
def test_what_a_line_says(wikitext: str, said: str) -> None:
    assert body(wikitext) == said


@pytest.mark.parametrize(("template", "said"), table(__file__, "templates"))
def test_what_a_template_means(template: str, said: str) -> None:
    assert body(f"{{{{{template}}}}}") == said


@pytest.mark.parametrize(
    ("wikitext", "said", "count"),
    [
        ("A {{thing|with text|55 tonnes}}.", "A with text, 55 tonnes.", 1),
        ("A {{thing|55|tonnes}}, {{decrease2}} 5.", "A 55 tonnes, decrease 5.", 2),
        ("{{Game|home=Ann|away=Bo|score={{score|2|1}}|width=20px}}", "Home | Ann | Away | Bo | Score | 2–1", 1),
        ("hat {{EWZ|DE|12345}} Einwohner", "hat DE, 12345 Einwohner", 1),  # looked up elsewhere
        ("A {{su|p=+1|b=-2}}.\n\n{{Ships of the line}}", "A p: +1; b: -2.", 2),
        ("{{convert|5|km}} {{FRA}} {{HMS|Auk}}", "5 km FRA HMS Auk", 0),
    ],
)
def test_an_unknown_template_leaves_its_arguments_and_is_counted(wikitext: str, said: str, count: int) -> None:
    text, unread = converted(wikitext, "T")
    assert " | ".join(re.findall(r"[^|\s-](?:[^|\n]*[^|\s])?", text.removeprefix("# T"))) == said
    assert unread["unexpanded templates"] == count


def test_notes_stand_in_the_text_and_references_go() -> None:
    text = body("It has 1,640{{efn|Without [[ferries]].}} boats.<ref name=a>At low water.</ref> More.<ref name=a/>")
    assert text == "It has 1,640(Without ferries.) boats. More."


# --- tables ----------------------------------------------------------------------------------


def test_merged_cells_nested_headers_and_the_caption() -> None:
    text = body(
        """Before.
{| class="wikitable sortable" style="x"
|+ The ''mills'' of {{nowrap|the river}}
! rowspan="2" | Mill !! colspan=2 | Size
|-
! Wheels !! Width (m)
|- style="background:#eee"
! scope="row" | [[Upper Mill|Upper]]
| style="width:3em" | 2
| {{convert|3|m|ft}}
|-
| rowspan=2 | Lower || 1 || 4<br>at flood
|-
| {{n/a}}
|
* five
* six
|}
After."""
    )
    assert text.startswith("Before.\n\nThe mills of the river\n\n| Mill |")
    assert [line for line in text.splitlines() if line.startswith("|")] == [
        "| Mill | Size / Wheels | Size / Width (m) |",
        "|---|---|---|",
        "| Upper | 2 | 3 m |",
        "| Lower | 1 | 4 at flood |",
        "| Lower | N/A | five; six |",
    ]
    assert text.endswith("\n\nAfter.")


BOX = """{{Infobox person
| name = Ann Orme
| image = a.jpg
| image_size = 20
| birth_date = {{birth date|1900|1|2}}
| spouse = {{plainlist|
* [[A|Bo]]
* {{marriage|Cy|1950}}
}}
| children = {{ubl|Dee|Eve {{nowrap|of Z}}}}<ref>x</ref>
| rank1 = Major
| blank =
| module = {{Infobox officer|embed=yes|service_years=1920–1930}}
}}
'''Ann Orme''' was a miller."""


def test_an_infobox_is_laid_out_as_that_of_the_html() -> None:
    html = """<table class="infobox"><tr><th colspan="2">Ann Orme</th></tr>
        <tr><th>Birth date</th><td>2 January 1900</td></tr>
        <tr><th>Spouse</th><td><ul><li>Bo</li><li>Cy (m. 1950–)</li></ul></td></tr>
        <tr><th>Children</th><td><ul><li>Dee</li><li>Eve of Z</li></ul></td></tr>
        <tr><th>Rank 1</th><td>Major</td></tr>
        <tr><th>Service years</th><td>1920–1930</td></tr></table><p>Ann Orme was a miller.</p>"""
    assert to_markdown(BOX, "Ann Orme") == page_markdown.to_markdown(html, "Ann Orme")


# --- hostile ---------------------------------------------------------------------------------

SIGNS = """
    {{ }} {{{ }}} [[ ]] {| |} |- |+ | || ! !! ''' '' == = * # : ; < > <b> </b> <ref> </ref> <ref <!-- --> <nowiki>
    </nowiki> <table> <td> </table> <div> & &amp; {{ubl| {{convert|5|km}} {{Infobox|a= {{!}} [[File: colspan=3 http://a.b
    a word 1900 \ue010 \ue0110\ue011 &#xe002;7&#57346; <math> {{#if: {{lang|
"""
PIECES = st.sampled_from([*SIGNS.split(), "\n", "\n\n", " ", "\t", "\0", "\x85"])


@settings(deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join))
def test_no_wikitext_makes_the_converter_raise(wikitext: str) -> None:
    text = to_markdown(wikitext, "T")
    assert text.startswith("# T\n")
    assert not re.search("[\ue000-\ue0ff]", text)


# Each took the parsers, or the layout, minutes before it was bounded: quadratic in what is opened and never closed.
OPENED = ["{{a|", "[[a|", "{|\n|-\n| a", "<b>", "<ref name=a>", "<ref name=a", "<ref name=", "[http://a.b c "]
OPENED += ["{{{a", "'' ''' ", "<!-- ", "{{!}}", "\n*#:;", "{{ubl|", "{{Infobox|a="]


@pytest.mark.parametrize("unit", sliced(OPENED, 4))
def test_what_is_never_closed_ends_all_the_same(unit: str) -> None:
    assert to_markdown(f"Before.\n{unit * 20_000}", "T").startswith("# T\n\nBefore.")


def test_spans_that_make_a_page_of_gigabytes_and_pages_above_the_limit_are_refused() -> None:
    with pytest.raises(FetchError, match="nested"):
        to_markdown("<table><tr><td>" * 20_000, "T")
    with pytest.raises(FetchError, match="cells"):
        to_markdown("{|" + "\n|-\n| rowspan=99999 colspan=200 | x" * 20_000, "T")
    with pytest.raises(FetchError, match="larger than the limit"):
        to_markdown("x" * (MAX_CHARS + 1), "T")
