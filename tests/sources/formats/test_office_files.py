"""Excel and PowerPoint files, made by the libraries that read them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pytest

from iterative_rag.sources.formats.sandbox import Limits
from tests.sources.formats.reading import documents, only, reasons, written

openpyxl = pytest.importorskip("openpyxl")
pptx = pytest.importorskip("pptx")
chart_data = pytest.importorskip("pptx.chart.data")

from openpyxl.styles import Font  # noqa: E402
from pptx.enum.chart import XL_CHART_TYPE  # noqa: E402
from pptx.oxml import parse_xml  # noqa: E402

LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


def workbook(path: Path, **sheets: Sequence[Sequence[object]]) -> Path:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    book.save(path)
    return path


def test_a_sheet_is_a_table_under_its_header(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Bridges of Karsa"],
        [],
        ["name", "length", "opened", "toll", None],
        ["Velm", 31.5, date(1843, 5, 1), True, None],
        ["Ost | West", 29, datetime(1911, 2, 3, 4, 30), None, None],
        [],
        ["Sund", "=1+1", None, False, "note"],
    ]
    bridges = only(workbook(tmp_path / "Karsa_bridges.xlsx", All=rows))
    assert bridges.title == "Karsa bridges"
    assert bridges.text == (
        "# Karsa bridges\n\nBridges of Karsa\n\n| name | length | opened | toll |\n|---|---|---|---|\n"
        "| Velm | 31.5 | 1843-05-01 | yes |\n"
        "| Ost \\| West | 29 | 1911-02-03 04:30 |  |\n| Sund |  |  | no | note |\n"
    )
    assert ("not read", "formulas without a value: 1") in bridges.metadata


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (0.232, "0.0%", "23.2%"),
        (1, "0.0%", "100.0%"),
        (1234567.891, '#,##0.00 "EUR"', "1,234,567.89 EUR"),
        (-1234.5, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "$(1,234.50)"),
        (0, '_($* #,##0.00_);_($* (#,##0.00);_($* "-"??_);_(@_)', "$-"),
        (-5.5, "[$£-809]#,##0.00;[Red]-[$£-809]#,##0.00", "-£5.50"),
        (1500000, '0.0,,"M"', "1.5M"),
        (461234, "00000000", "00461234"),
        (12, '[>=10]0" many";0', "12 many"),
        (5, ";;;", "5"),
        (12.6, "0", "13"),
        (0.1 + 0.2, "General", "0.3"),
        (timedelta(hours=27, minutes=15), "[h]:mm", "27:15"),
        (time(7, 45), "h:mm", "07:45"),
        (datetime(1931, 5, 14, 9, 30), "yyyy-mm-dd h:mm", "1931-05-14 09:30"),
        ("#DIV/0!", "0.0%", "#DIV/0!"),
        ("0046", "0%", "0046"),
    ],
)
def test_a_value_is_shown_as_its_reader_sees_it(tmp_path: Path, value: object, code: str, shown: str) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Port", "Share"])
    book.active.append(["Velm", value])
    book.active["B2"].number_format = code
    book.save(tmp_path / "a.xlsx")
    assert f"| Velm | {shown} |" in only(tmp_path / "a.xlsx").text


CATCH: list[list[object]] = [
    ["Landed, in tonnes"],
    ["Port", "Herring", None, "Cod"],
    [None, 2021, 2022, 2022],
    ["Velm", 1, 2, "=1+1"],
    [None, 3, 4, 5],
    [],
    ["Prices"],
    ["Fish", "Euro"],
    ["Cod", 5.5],
    [],
    ["Note: provisional"],
]


def test_a_sheet_of_several_tables_is_read_whole(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    for row in CATCH:
        sheet.append(row)
    for merged in ("A1:D1", "A2:A3", "B2:C2", "A4:A5"):
        sheet.merge_cells(merged)
    sheet["C4"].font = Font(strike=True)
    book.create_sheet("Old").sheet_state = "hidden"
    book.save(tmp_path / "catch.xlsx")
    catch = only(tmp_path / "catch.xlsx")
    assert catch.text == (
        "# catch\n\nLanded, in tonnes\n\n| Port | Herring / 2021 | Herring / 2022 | Cod / 2022 |\n|---|---|---|---|\n"
        "| Velm | 1 | ~~2~~ |  |\n| Velm | 3 | 4 | 5 |\n\nPrices\n\n"
        "| Fish | Euro |\n|---|---|\n"
        "| Cod | 5.5 |\n\nNote: provisional\n"
    )
    assert ("not read", "hidden sheets: 1") in catch.metadata


def test_every_sheet_is_a_document_and_a_long_one_several(tmp_path: Path) -> None:
    long = [["n", "square"], *([str(number), str(number * number)] for number in range(2500))]
    found = documents(workbook(tmp_path / "sums.xlsx", One=[["a", "b"], [1, 2]], Long=long, Empty=[]))
    assert [one.title for one in found] == ["sums: One", "sums: Long (rows 1–2000)", "sums: Long (rows 2001–2500)"]
    assert len({one.id for one in found}) == 3


def test_slides_are_sections_and_pages(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "The Velm bridge"
    slide.placeholders[1].text = "Begun in 1841\nOpened in 1843"
    slide.notes_slide.notes_text_frame.text = "Say who paid."
    second = deck.slides.add_slide(deck.slide_layouts[6])
    table = second.shapes.add_table(2, 2, 0, 0, 100, 100).table
    for place, text in enumerate(["Span", "Length", "West", "31 m"]):
        table.cell(place // 2, place % 2).text = text
    deck.save(str(tmp_path / "Velm.pptx"))
    document = only(tmp_path / "Velm.pptx")
    assert document.title == "Velm"
    assert document.text == (
        "## The Velm bridge\n\n- Begun in 1841\n- Opened in 1843\n\nNotes: Say who paid.\n\n"
        "## Slide 2\n\n| Span | Length |\n|---|---|\n| West | 31 m |\n"
    )
    assert document.page_at(document.text.index("West")) == 2


A = "http://schemas.openxmlformats.org/drawingml/2006/main"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def test_all_that_a_slide_shows_is_read(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Crew"
    for place, (text, level) in enumerate([("first", 0), ("second", 0), ("below", 1), ("third", 0)]):
        frame = slide.placeholders[1].text_frame
        paragraph = frame.add_paragraph() if place else frame.paragraphs[0]
        paragraph.text, paragraph.level = text, level
        kind = "alphaLcParenR" if level else "romanUcPeriod"
        paragraph._p.get_or_add_pPr().append(parse_xml(f'<a:buAutoNum xmlns:a="{A}" type="{kind}"/>'))
    run = slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.paragraphs[0].add_run
    for text, name, value in (("1,640", "baseline", "0"), ("3", "baseline", "30000"), (" then ", "baseline", "0"),
                              ("75", "strike", "sngStrike"), (" 90", "baseline", "0")):  # fmt: skip
        added = run()
        added.text = text
        added.font._element.set(name, value)
    table = slide.shapes.add_table(3, 2, 0, 0, 9, 9).table
    for place, text in enumerate(["Ship", "Men", "Tern", "12", "", "9"]):
        table.cell(place // 2, place % 2).text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    data = chart_data.CategoryChartData(number_format="0%")
    data.categories = ["1950", "1951"]
    data.add_series("Tern", (0.25, 0.5))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9, 9, data)
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "Why E matters"
    hidden.element.set("show", "0")
    title = hidden.shapes.title.element  # as PowerPoint writes a title with a formula
    choice = parse_xml(f'<mc:AlternateContent xmlns:mc="{MC}"><mc:Choice/><mc:Fallback/></mc:AlternateContent>')
    title.getparent().replace(title, choice)
    choice[0].append(title)
    deck.save(str(tmp_path / "Velm.pptx"))
    assert only(tmp_path / "Velm.pptx").text == (
        "## Crew\n\nI. first\nII. second\n  a) below\nIII. third\n\n1,640[3] then ~~75~~ 90\n\n"
        "| Ship | Men |\n|---|---|\n| Tern | 12 |\n| Tern | 9 |\n\n"
        "| Crew | Tern |\n|---|---|\n| 1950 | 25% |\n| 1951 | 50% |\n\n## Why E matters\n"
    )


@pytest.mark.parametrize(("name", "kind"), [("book.xlsx", "an Excel workbook"), ("deck.pptx", "a PowerPoint file")])
def test_what_cannot_be_read_has_its_reason(tmp_path: Path, name: str, kind: str) -> None:
    good = tmp_path / name
    if name.endswith("xlsx"):
        workbook(good, One=[["a", "b"], [1, 2]])
    else:
        pptx.Presentation().save(str(good))
    parts = zipfile.ZipFile(good)
    first = next(one for one in parts.namelist() if one.startswith(("xl/workbook.xml", "ppt/presentation.xml")))
    bomb, entities, missing = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"<x>" * 40_000_000)
    for file, content in (
        (entities, b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><x>&a;</x>'),
        (missing, None),
    ):
        with zipfile.ZipFile(file, "w") as archive:
            for one in parts.namelist():
                if one != first or content is not None:
                    archive.writestr(one, content if one == first and content else parts.read(one))
    expected = {
        "locked with a password": LOCKED,
        "BadZipFile": good.read_bytes()[:-200],
        "larger than the limit": bomb.getvalue(),
        "an XML bomb": entities.getvalue(),
        "damaged (KeyError)": missing.getvalue(),
    }
    for reason, content in expected.items():
        place = written(tmp_path / f"bad{good.suffix}", content)
        assert reason in reasons(place, Limits(seconds=20))[0]
