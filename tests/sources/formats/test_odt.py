"""OpenDocument texts are read in the order of the document; what does harm is refused with its reason."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from iterative_rag.sources.formats.sandbox import Limits
from tests.sources.formats.reading import only, reasons

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for short, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "style": "style",
        "draw": "drawing",
    }.items()
)
Parts = dict[str, str | None]  # None: it is missing

TYPE = "application/vnd.oasis.opendocument.text"
META = (
    f'<office:document-meta {NAMESPACES} xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta><dc:title>Bridges of Karsa</dc:title>'
    "</office:meta></office:document-meta>"
)
BODY = (
    "<text:tracked-changes><text:changed-region><text:deletion><text:p>Deleted.</text:p></text:deletion>"
    "</text:changed-region></text:tracked-changes>"
    '<text:p text:style-name="P1">The Velm <text:s/>bridge</text:p>'
    "<text:table-of-content><text:index-body><text:p>Velm 1</text:p></text:index-body></text:table-of-content>"
    '<text:section><text:h text:outline-level="2">The <text:span>builder</text:span></text:h></text:section>'
    "<text:p>Begun in\n  1841<office:annotation><text:p>Sure?</text:p></office:annotation> by *Orla_Penn*"
    "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See the deed.</text:p>"
    "</text:note-body></text:note>, it was opened<text:line-break/>in 1843."
    "<drawing:frame><drawing:text-box><text:p>A plate.</text:p></drawing:text-box></drawing:frame></text:p>"
    "<text:list><text:list-item><text:p>stone</text:p><text:list><text:list-item><text:p>granite</text:p>"
    "</text:list-item></text:list></text:list-item><text:list-item><text:p>iron</text:p></text:list-item></text:list>"
    '<table:table><table:table-header-rows><table:table-row><table:table-cell table:number-columns-spanned="2">'
    "<text:p>Span</text:p></table:table-cell><table:covered-table-cell/><table:table-cell><text:p>m</text:p>"
    "</table:table-cell></table:table-row></table:table-header-rows><table:table-row>"
    '<table:table-cell table:number-rows-spanned="2"><text:p>West</text:p><text:p>bank</text:p></table:table-cell>'
    "<table:table-cell><text:p>a|b</text:p></table:table-cell><table:table-cell><text:p>31</text:p></table:table-cell>"
    '<table:table-cell table:number-columns-repeated="16000"/></table:table-row><table:table-row>'
    "<table:covered-table-cell/><table:table-cell><text:p>c</text:p></table:table-cell><table:table-cell>"
    '<text:p>9</text:p></table:table-cell></table:table-row><table:table-row table:number-rows-repeated="1000000">'
    "<table:table-cell/></table:table-row></table:table>"
)


def content(body: str) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><office:document-content {NAMESPACES}><office:automatic-styles>'
        '<style:style style:name="P1" style:parent-style-name="Title"/></office:automatic-styles>'
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )


def odt(path: Path, body: str = BODY, changed: Parts | None = None) -> Path:
    parts: Parts = {"mimetype": TYPE, "content.xml": content(body), "meta.xml": META, **(changed or {})}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            if text is not None:
                archive.writestr(name, text)
    return path


def test_headings_paragraphs_lists_tables_and_notes_become_markdown(tmp_path: Path) -> None:
    read = only(odt(tmp_path / "velm.odt"))
    assert read.title == "The Velm bridge"
    assert read.text == (
        "# The Velm bridge\n\n### The builder\n\nBegun in 1841 by *Orla_Penn*[1], it was opened\nin 1843.\n\n"
        "Comment by unknown: Sure?\n\nA plate.\n\n- stone\n  - granite\n- iron\n\n"
        "| Span | Span | m |\n|---|---|---|\n| West; bank | a\\|b | 31 |\n| West; bank | c | 9 |\n\n[1] See the deed.\n"
    )


MARKS = (
    '<style:style style:name="S1"><style:text-properties style:text-position="super 58%"/></style:style>'
    '<style:style style:name="S2"><style:text-properties style:text-line-through-style="solid"/></style:style>'
    '<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="I" '
    'style:num-suffix="."/>'
    '<text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/></text:list-style>'
)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            '<text:p>It had 1,640<text:span text:style-name="S1">3</text:span> on 10<text:span text:style-name="S1">'
            '6</text:span> m, for <text:span text:style-name="S2">75</text:span> 90.</text:p>',
            "It had 1,640[3] on 10^6 m, for ~~75~~ 90.",
        ),
        (
            '<text:list text:style-name="L1"><text:list-item><text:p>Members</text:p><text:list>'
            "<text:list-item><text:p>pay</text:p></text:list-item></text:list></text:list-item></text:list><text:p>Apart.</text:p>"
            '<text:list text:style-name="L1" text:continue-numbering="true"><text:list-item><text:p>Guests</text:p>'
            "</text:list-item></text:list>",
            "I. Members\n   1. pay\n\nApart.\n\nII. Guests",
        ),
        (
            '<text:p>Load: <drawing:frame><drawing:object xlink:href="./Object 1"/></drawing:frame>.</text:p>'
            '<text:p>Crew<drawing:frame><drawing:object xlink:href="./Object 2"/></drawing:frame></text:p>',
            "Load: q = 8 M over L^2.\n\nCrew\n\n|  | Tern |\n|---|---|\n| 1950 | 12 |",
        ),
    ],
)
def test_marks_numbers_formulas_and_charts_are_as_in_other_formats(tmp_path: Path, body: str, text: str) -> None:
    rows = [["", "Tern"], ["1950", "12"]]
    cells = ("".join(f"<table:table-cell><text:p>{one}</text:p></table:table-cell>" for one in row) for row in rows)
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in cells)
    chart = f'<chart:chart xmlns:chart="c"><table:table>{table}</table:table></chart:chart>'
    math = "<math><mi>q</mi><annotation>q = 8 M over L^2</annotation></math>"
    changed: Parts = {
        "content.xml": content(body).replace("<style:style", MARKS + "<style:style", 1).replace(
            "<office:document-content", '<office:document-content xmlns:xlink="x"'),
        "Object 1/content.xml": math,
        "Object 2/content.xml": f"<x {NAMESPACES}>{chart}</x>",
    }  # fmt: skip
    read = only(odt(tmp_path / "marks.odt", changed=changed))
    assert read.text == f"# Bridges of Karsa\n\n{text}\n"


DTD = '<!DOCTYPE manifest:manifest PUBLIC "-//OpenOffice.org//DTD Manifest 1.0//EN" "file:///etc/Manifest.dtd">'
MANIFEST = '<?xml version="1.0" encoding="UTF-8"?>' + DTD + '<manifest:manifest xmlns:manifest="m"/>'


BOMB = "<text:p>" + "x" * 17_000_000 + "</text:p>"
ENTITIES = '<!DOCTYPE x [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
EXTERNAL = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>'
DEFAULTS = f'<!DOCTYPE x [<!ATTLIST text:p text:a CDATA "{"a" * 100_000}">]>'
DEEP = "<text:section>" * 20_000 + "</text:section>" * 20_000
LOCKED = '<manifest:manifest xmlns:manifest="m"><manifest:encryption-data/></manifest:manifest>'
REFUSED: dict[str, tuple[Parts, str]] = {
    "zip bomb": ({"content.xml": content(BOMB)}, "larger than the limit of 17 MB"),
    "entities": ({"content.xml": content("&b;").replace("?>", "?>" + ENTITIES, 1)}, "an XML bomb"),
    "entities of the metadata": ({"meta.xml": ENTITIES + META}, "an XML bomb"),
    "external entity": ({"content.xml": content("&a;").replace("?>", "?>" + EXTERNAL, 1)}, "an XML bomb"),
    "entities of the manifest": ({"META-INF/manifest.xml": MANIFEST.replace(DTD, ENTITIES)}, "an XML bomb"),
    "default values": ({"content.xml": content("<text:p/>").replace("?>", "?>" + DEFAULTS, 1)}, "an XML bomb"),
    "another type": ({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}, "its type is 'application/vnd"),
    "no type": ({"mimetype": None}, "damaged (KeyError)"),
    "locked": ({"META-INF/manifest.xml": LOCKED}, "locked with a password"),
    "no content": ({"content.xml": None}, "damaged (KeyError)"),
    "not XML": ({"content.xml": "<office:body"}, "damaged (XMLSyntaxError)"),
    "deep": ({"content.xml": content(DEEP)}, "damaged (XMLSyntaxError)"),
    "empty": ({"content.xml": content("<text:p/>")}, "It holds no text."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_read_has_its_reason_in_one_sentence(tmp_path: Path, name: str) -> None:
    changed, reason = REFUSED[name]
    (told,) = reasons(odt(tmp_path / "bad.odt", changed=changed), Limits(seconds=20))
    assert reason in told
    assert told.count(". ") == 0


def test_repeated_cells_do_not_exhaust_the_memory(tmp_path: Path) -> None:
    times = "9" * 5000
    cell = f'<table:table-cell table:number-columns-repeated="{times}"><text:p>many words</text:p></table:table-cell>'
    row = f'<table:table-row table:number-rows-repeated="{times}">{cell}</table:table-row>'
    head = "<table:table-row><table:table-cell><text:p>head</text:p></table:table-cell></table:table-row>"
    read = only(odt(tmp_path / "wide.odt", f"<table:table>{head}{row}</table:table>"))
    assert read.text.count("many words") == 500 * 100
