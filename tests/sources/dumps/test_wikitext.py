"""Wikitext as Markdown: what the page would show stays, what only a wiki can make of it goes."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from iterative_rag.errors import FetchError
from iterative_rag.sources.dumps.pages_xml import DumpSite
from iterative_rag.sources.dumps.wikitext import MAX_CHARS, MAX_DEPTH, to_html
from iterative_rag.sources.dumps.wikitext import to_markdown as converted
from iterative_rag.sources.wikipedia import page_markdown


def to_markdown(wikitext: str, title: str) -> str:
    return converted(wikitext, title)[0]


def body(wikitext: str) -> str:
    """The Markdown of a page without its title."""
    text = to_markdown(wikitext, "T")
    assert text.startswith("# T\n")
    return text.removeprefix("# T\n").strip()


def table(wikitext: str) -> list[str]:
    return [line for line in body(wikitext).splitlines() if line.startswith("|")]


# --- prose -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wikitext", "said"),
    [
        ("'''Bold''' and ''italic'', '''''both''''', don't", "Bold and italic, both, don't"),
        ("[[Lock]]s, [[Lock|the port]], [[Mill (river)|]], [[:Category:A]]", "Locks, the port, Mill, Category:A"),
        ("[[File:A.jpg|thumb|A [[mill]] in snow]]Text[[Category:Mills]][[de:Mühle]]", "A mill in snow\n\nText"),
        ("[https://a.example/x the source], [https://a.example] https://b.example", "the source, https://b.example"),
        ("One.<ref>{{cite web|url=x}} [[a]]</ref> Two.<ref name=a /> Three.<!-- [[never]] {{ -->", "One. Two. Three."),
        ("<nowiki>''[[as it is]]''</nowiki>", "''[[as it is]]''"),
        ("10<sup>6</sup> m<sup>2</sup> &ndash; a < b and H<sub>2</sub>O", "10^6 m² – a < b and H2O"),
        ("__NOTOC__First.\n\nSecond\nline.", "First.\n\nSecond line."),
        ("<math>E = mc^2</math> holds", "E = mc^2 holds"),
        ("{{{name|Default}}} {{#if: x | yes | no}} {{PAGENAME}}", "Default yes T"),
        ("<script>alert(1)</script>Safe <foo>tag</foo>", "Safe tag"),
        ("&#xE002;99&#57346; &#x<foo>e002;7&#x{{sfn}}e002; ok", "99 7 ok"),
        ("[[Left open {{and this", "Left open and this"),
        ("Stray {{ [[braces]] round {{flag|text}} }} stay text", "Stray braces round text stay text"),
    ],
)  # fmt: skip
def test_what_a_line_says(wikitext: str, said: str) -> None:
    assert body(wikitext) == said


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("convert|5|km|mi", "5 km"),
        ("convert|5|to|10|km2|mi2", "5 to 10 km²"),
        ("cvt|5|ft|11|in|m", "5 ft 11 in"),
        ("convert|1,200|-|1,500|m|ft|abbr=on", "1,200–1,500 m"),
        ("convert|20|C", "20 °C"),
        ("birth date|1900|1|2", "2 January 1900"),
        ("Birth date and age|df=y|1950|12|31", "31 December 1950"),
        ("start date|1850|6", "June 1850"),
        ("death date and age|1970|1|1|1900|1|2", "1 January 1970"),
        ("flag|Peru", "Peru"),
        ("lang|de|Straße", "Straße"),
        ("lang-fr|''eau''", "eau"),
        ("nowrap|{{lang|de|[[A|B]]}} {{nowrap|C}}", "B C"),
        ("circa|1900", "c. 1900"),
        ("frac|3|1|2", "3 1/2"),
        ("val|5.2|0.1|u=kg", "5.2 ± 0.1 kg"),
        ("coord|51|30|26|N|0|7|39|W|display=inline", "51 30 26 N 0 7 39 W"),
        ("url|https://a.example/x", "https://a.example/x"),
        ("sort|002|Two", "Two"),
        ("nihongo|Lamp|灯|tō", "Lamp (灯)"),
        ("as of|2020|5", "As of May 2020"),
        ("US$|5 million", "US$5 million"),
        ("nowrap|1=a=b", "a=b"),
        ("ubl|A|[[B]]", "- A\n- B"),
        ("plainlist|\n* A\n* {{nowrap|B}}\n", "- A\n- B"),
        ("Höhe|516|DE-NN", "516 m"),
        ("unité|12|km|2", "12 km²"),
        ("num|5000", "5000"),
        ("formatnum:12345.5", "12345.5"),
        ("convert|1.2|e6m3|e6cuft", "1.2 million m³"),
        ("Datum|14|5|1934", "14 May 1934"),
        ("dts|1931|May|3", "3 May 1931"),
        ("SortKeyName|Orla|Finnan", "Orla Finnan"),
        ("ru|SCO", "SCO"),
        ("USA", "USA"),
        ("SS|Marlin", "SS Marlin"),
        ("USS|Gull|DD-5", "USS Gull"),
        ("w|nuclear weapon|nuclear weapons", "nuclear weapons"),
        ("flagathlete|[[A B]]|KEN", "A B (KEN)"),
        ("Infobox x|LuogoNascita=Orm|PLZ=5", "|  |  |\n|---|---|\n| Luogo nascita | Orm |\n| PLZ | 5 |"),
        ("Sortname|Bo|Lund|Bo Lund (rower)", "Bo Lund"),
        ("#switch: a | a = first | b = second", "first"),
        ("Zitat|Wir segeln.|P. Quill", "> Wir segeln. P. Quill"),
        ("cite web|title=No|url=x", ""),
        ("Navbox|list1=[[a]]", ""),
    ],
)
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


def test_months_are_written_in_the_language_of_the_wiki() -> None:
    for language, said in (("de", "14. Mai 1934"), ("es", "14 de mayo de 1934"), ("ja", "1934-05-14")):
        assert converted("{{dts|14|5|1934}}", "T", DumpSite(language=language))[0] == f"# T\n\n{said}\n"


def test_notes_stand_in_the_text_and_references_go() -> None:
    text = body("It has 1,640{{efn|Without [[ferries]].}} boats.<ref name=a>At low water.</ref> More.<ref name=a/>")
    assert text == "It has 1,640(Without ferries.) boats. More."


def test_captions_of_files_and_galleries_stay_and_drawings_are_counted() -> None:
    text, unread = converted(
        "[[File:A.jpg|thumb|alt=x|A [[fly]] of 1931]]\n{|\n! A\n|-\n| [[File:F.png|20px|Norland]]\n|}\n"
        "<gallery>\nFile:B.jpg|The [[pier]]\n</gallery>\n<timeline>x</timeline>",
        "T",
    )
    assert text == "# T\n\nA fly of 1931\n\n| A |\n|---|\n| Norland |\n\n- The pier\n"
    assert unread["timelines"] == 1


def test_headings_and_lists_keep_their_levels_and_empty_sections_go() -> None:
    text = body(
        "== A ==\n* one\n** two\n*# three\n* four\n=== B ===\n; term : meaning\n== References ==\n{{reflist}}\n"
    )
    assert text == "## A\n\n- one\n  - two\n  1. three\n- four\n\n### B\n\nterm\n\nmeaning"


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


def test_bars_of_templates_and_links_part_no_cells_but_the_bar_template_does() -> None:
    assert table("{|\n! A !! B\n|-\n| [[x|y]] || {{lang|de|z}} {{!}}{{!}} w\n|}") == [
        "| A | B |  |",
        "|---|---|---|",
        "| y | z | w |",
    ]


def test_attributes_of_cells_strike_hide_and_end_where_they_should() -> None:
    rows = "| style=\"text-decoration:line-through | 5 || style='display:none' | 6\n|-\n| style='color:red | 7 || 8"
    assert table("{| class='wikitable\n! A !! B\n|-\n" + rows + "\n|}")[2:] == ["| ~~5~~ |  |", "| 7 | 8 |"]


def test_a_table_in_a_cell_and_one_that_is_never_closed_lose_nothing() -> None:
    text = body("{|\n! Outer\n|-\n|\n{|\n! Inner\n|-\n| deep\n|}\n|}\n{|\n! Open\n|-\n| end")
    assert all(word in text for word in ("Outer", "Inner", "deep", "Open", "end"))


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


def test_a_parameter_that_names_another_is_its_label_and_settings_are_no_facts() -> None:
    assert table(
        """{{Infobox settlement|name=Orm|subdivision_type1=Country|subdivision_name1=[[Peru]]|leader_title=[[Mayor]]
        |leader_name=Ann|established_title=Founded|established_date={{start date|1900|5}}|seat_type=Capital|seat=Ormtown
        |blank_name_sec1=Code|blank_info_sec1=77|leader_title2=Vacant|image_skyline=a.jpg|area_footnotes=x|embed=yes
        |colour=#ffaa00|map_width=200px|image_caption=In 1902|footnotes=By day
        |architectural_style=Gothic|width={{convert|5|m|ft}}}}"""
    ) == [
        "| Orm |  |",
        "|---|---|",
        "| Country | Peru |",
        "| Mayor | Ann |",
        "| Founded | May 1900 |",
        "| Capital | Ormtown |",
        "| Code | 77 |",
        "| Leader title 2 | Vacant |",
        "| Image caption | In 1902 |",
        "| Footnotes | By day |",
        "| Architectural style | Gothic |",
        "| Width | 5 m |",
    ]


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


@settings(deadline=None)
@given(st.text(max_size=200))
def test_no_text_at_all_makes_the_converter_raise(wikitext: str) -> None:
    assert to_markdown(wikitext, "T").startswith("# T\n")


# Each took the parsers, or the layout, minutes before it was bounded: quadratic in what is opened and never closed.
@pytest.mark.parametrize(
    "unit",
    ["{{a|", "[[a|", "{|\n|-\n| a", "<b>", "<div>", "<ref name=a>", "<ref name=a", "<ref name=", "[http://a.b c ",
     "<table><tr><td>", "{{{a", "'' ''' ", "<!-- ", "{{!}}", "\n*#:;", "{{ubl|", "{{Infobox|a="],
)  # fmt: skip
def test_what_is_never_closed_ends_all_the_same(unit: str) -> None:
    assert to_markdown(f"Before.\n{unit * 20_000}", "T").startswith("# T\n\nBefore.")


@pytest.mark.parametrize(
    ("left", "right"), [("{{ubl|", "}}"), ("[[a|", "]]"), ("{|\n|\n", "\n|}"), ("<div>", "</div>"), ("{{{a|", "}}}")]
)
def test_nesting_10_000_deep_ends_and_what_follows_is_read(left: str, right: str) -> None:
    assert "After." in to_markdown(f"{left * 10_000}x{right * 10_000}\n\nAfter.", "T")


def test_brackets_that_are_never_closed_cost_what_follows_nothing() -> None:
    assert body("[[a " * 30 + "{{convert|5|km}} [[b|end]]").endswith("5 km end")


def test_templates_are_read_to_the_depth_that_pages_have() -> None:
    depth = MAX_DEPTH - 1
    assert body("{{nowrap|" * depth + "core" + "}}" * depth) == "core"
    text, unread = converted("{{nowrap|" * 30 + "core" + "}}" * 30, "T")
    assert "core" in text
    assert unread["templates nested too deeply"] == 1


def test_spans_that_make_a_page_of_gigabytes_and_pages_above_the_limit_are_refused() -> None:
    with pytest.raises(FetchError, match="cells"):
        to_markdown("{|" + "\n|-\n| rowspan=99999 colspan=200 | x" * 20_000, "T")
    with pytest.raises(FetchError, match="larger than the limit"):
        to_html("x" * (MAX_CHARS + 1), "T")
