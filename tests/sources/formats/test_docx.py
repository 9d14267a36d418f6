"""Word files are read whole, in the order in which a reader meets their parts."""

from __future__ import annotations

from pathlib import Path

import pytest

from fakes import sample_files
from tests.sources.formats.reading import only, written

KINDS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def test_a_word_file_is_read_in_its_order_with_merged_cells_filled_in(tmp_path: Path) -> None:
    word = only(sample_files.docx(tmp_path / "bridge.docx"))
    assert word.title == "Karsa Bridge"
    assert word.text == (
        "# Karsa Bridge\n\nThe bridge crosses the Velm.\n\n## History\n\n- Begun in 1841\n\n- Opened in 1843\n\n"
        "| Span | Length | Built |\n|---|---|---|\n| West | 31 m | 1841; 1842 |\n| East | 29 m | 1841; 1842 |\n"
        "| All \\| both | 60 m | 60 m |\n\nAfter the table.\n"
    )


def word_file(path: Path, body: str, **parts: str) -> Path:
    """A Word file of this body, with parts of these kinds ("numbering")."""
    relations = "".join(
        f'<Relationship Id="{kind}" Type="{KINDS}/{kind.rstrip("0123456789")}" Target="{kind}.xml"/>' for kind in parts
    )
    more = {f"word__{kind}_dot_xml": f'<x xmlns:w="{WORD}">{part}</x>'.encode() for kind, part in parts.items()}
    more["word___rels__document_dot_xml_dot_rels"] = (
        f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>'
    ).encode()
    return written(path, sample_files.word_body(body.encode(), **more))


def p(text: str, properties: str = "") -> str:
    """A paragraph; text between marks of the markup stays as it is."""
    text = text if text.startswith("<") else f"<w:r><w:t>{text}</w:t></w:r>"
    return f"<w:p><w:pPr>{properties}</w:pPr>{text}</w:p>"


def r(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def listed(level: int, number: int = 1) -> str:
    return f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>'


def table(*rows: str) -> str:
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"


def cell(text: str, properties: str = "") -> str:
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{p(text)}</w:tc>"


def box(text: str) -> str:
    return f"<w:txbxContent>{p(text)}</w:txbxContent>"


M = "http://schemas.openxmlformats.org/officeDocument/2006/math"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"
LEVELS = "".join(
    f'<w:lvl w:ilvl="{level}"><w:start w:val="{start}"/><w:numFmt w:val="{kind}"/><w:lvlText w:val="{shown}"/></w:lvl>'
    for level, start, kind, shown in (
        (0, 1, "decimal", "%1."),
        (1, 1, "decimal", "%1.%2"),
        (2, 3, "lowerLetter", "(%3)"),
    )
)
NUMBERING = (
    f'<w:abstractNum w:abstractNumId="7">{LEVELS}</w:abstractNum>'
    '<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
    '<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="7"/>'
    '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>'
    '<w:num w:numId="3"><w:abstractNumId w:val="8"/></w:num>'
)
STYLES = (
    '<w:style w:styleId="berschrift1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr>'
    '</w:style><w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="berschrift1"/>'
    '<w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
    '<w:style w:styleId="High"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    '<w:style w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
)
NOTE = '<w:footnote w:id="4"><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>Not the 212.</w:t></w:r></w:p></w:footnote>'
COMMENT = f'<w:comment w:id="0" w:author="Edda">{p("Sure?")}</w:comment>'
FORMULA = (
    f'<m:oMath xmlns:m="{M}"><m:r><m:t>q=</m:t></m:r><m:f><m:num><m:r><m:t>8M</m:t></m:r></m:num><m:den><m:sSup><m:e>'
    "<m:r><m:t>L</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:den></m:f></m:oMath>"
)
CHART = (
    '<c:chart xmlns:c="c"><c:title><c:t>Crew</c:t></c:title><c:ser><c:tx><c:v>Tern</c:v></c:tx><c:cat><c:pt idx="0">'
    '<c:v>1950</c:v></c:pt></c:cat><c:val><c:formatCode>0%</c:formatCode><c:pt idx="0"><c:v>0.12</c:v></c:pt></c:val>'
    "</c:ser></c:chart>"
)
DRAWN = '<w:r><w:drawing><c:chart xmlns:c="c" xmlns:r="r" r:id="{}"/></w:drawing></w:r>'


@pytest.mark.parametrize(
    ("body", "parts", "text"),
    [
        pytest.param(
            p("Members", listed(0)) + p("pay", listed(1)) + p("vote", listed(1)) + p("once", listed(2)) + p("Apart.")
            + p("Guests", listed(0)) + p("look", listed(1)) + p("Later", listed(0, 2)) + p("free", listed(1, 3)),
            {"numbering": NUMBERING},
            "1. Members\n\n1.1 pay\n\n1.2 vote\n\n(c) once\n\nApart.\n\n2. Guests\n\n2.1 look\n\n9. Later\n\n- free",
            id="numbers of lists, as they go on",
        ),
        pytest.param(
            p("Scope", '<w:pStyle w:val="berschrift1"/>') + p("Scope 2", '<w:pStyle w:val="TOC1"/>')
            + p("Terms", '<w:pStyle w:val="Mine"/>' + listed(1)),
            {"numbering": NUMBERING, "styles": STYLES},
            "# 1. Scope\n\n### 1.1 Terms",
            id="headings by their styles, with numbers, and no contents",
        ),
        pytest.param(
            p(r("Opened in ") + f'<w:ins>{r("1934")}</w:ins><w:del><w:r><w:delText>1931</w:delText></w:r></w:del>'
              f'<w:moveTo>{r(" by the mayor")}</w:moveTo><w:moveFrom>{r(" by the king")}</w:moveFrom>'
              f'<w:fldSimple w:instr="DATE">{r(", in May")}</w:fldSimple>'
              f"<w:sdt><w:sdtContent><w:sdt><w:sdtContent>{r('.')}</w:sdtContent></w:sdt></w:sdtContent></w:sdt>"),
            {},
            "Opened in 1934 by the mayor, in May.",
            id="tracked changes, fields and nested content controls",
        ),
        pytest.param(
            p(r("1,640") + r("3", '<w:rStyle w:val="High"/>') + r(" on 10") + r("6", '<w:rStyle w:val="High"/>')
              + r(" m, ") + r("75", "<w:dstrike/>") + r(" 90")),
            {"styles": STYLES},
            "1,640[3] on 10^6 m, ~~75~~ 90",
            id="raised by a style or itself, and struck",
        ),
        pytest.param(
            p(r("It had 1,640") + '<w:r><w:footnoteReference w:id="4"/></w:r>' + r(" people.")
              + '<w:r><w:commentReference w:id="0"/></w:r>') + p("Later."),
            {"footnotes": NOTE, "comments": COMMENT},
            "It had 1,640[1] people.\n\nComment by Edda: Sure?\n\nLater.\n\n[1] Not the 212.",
            id="notes and comments",
        ),
        pytest.param(p(r("Load: ") + FORMULA), {}, "Load: q=8M/L^2", id="formula"),
        pytest.param(
            p(r("Lit at dusk.") + f'<w:r><mc:AlternateContent xmlns:mc="{MC}"><mc:Choice><w:drawing><b>'
              f"{box('Officer: Finnan.')}</b></w:drawing></mc:Choice><mc:Fallback><w:pict>"
              f"{box('Officer: Finnan.')}</w:pict></mc:Fallback>"
              f"</mc:AlternateContent></w:r><w:r><w:drawing>{box('Second.')}</w:drawing></w:r>") + p("After."),
            {},
            "Lit at dusk.\n\nOfficer: Finnan.\n\nSecond.\n\nAfter.",
            id="boxes once, in order",
        ),
        pytest.param(
            p("Seen.") + "<w:p><w:r><w:drawing><wp:inline xmlns:wp='http://x.example'>"
            "<wp:docPr descr='Map of the quay'/></wp:inline></w:drawing></w:r></w:p>", {}, "Seen.\n\nMap of the quay",
            id="descriptions of pictures",
        ),
        pytest.param(p("Bought."), {"header1": p("Minutes"), "header2": p("Minutes"), "footer": p("Board")},
                     "Minutes\n\nBought.\n\nBoard", id="headers and footers once"),
        pytest.param(
            table(cell("Region") + cell("Ship"), cell("North", "<w:vMerge w:val='restart'/>") + cell("Tern"),
                  cell("", "<w:vMerge/>") + cell("Auk"), '<w:trPr><w:gridBefore w:val="1"/></w:trPr>' + cell("Gull"),
                  '<w:trPr><w:del/></w:trPr>' + cell("Gone")),
            {},
            "| Region | Ship |\n|---|---|\n| North | Tern |\n| North | Auk |\n|  | Gull |",
            id="merged and left out cells, deleted rows",
        ),
        pytest.param(
            table(cell("Region") + cell("Ship"), cell("North") + f"<w:tc>{table(cell('A') + cell('B'))}{p('')}</w:tc>"),
            {},
            "| Region | Ship |\n|---|---|\n| North | A; B |",
            id="a table within a table",
        ),
        pytest.param(p(DRAWN.format("chart")), {"chart": CHART},
                     "| Crew | Tern |\n|---|---|\n| 1950 | 12% |", id="chart"),
    ],
)  # fmt: skip
def test_what_stands_beside_or_in_the_text_is_read(tmp_path: Path, body: str, parts: dict[str, str], text: str) -> None:
    read = only(word_file(tmp_path / "velm.docx", body, **parts))
    assert read.text.removeprefix("# velm\n\n").strip() == text
