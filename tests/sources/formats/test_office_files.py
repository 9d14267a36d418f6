"""Excel and PowerPoint files, made by the libraries that read them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

import pytest

from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document
from tests.sources.formats.reading import documents, only, reasons, written

openpyxl = pytest.importorskip("openpyxl")
pptx = pytest.importorskip("pptx")

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
        "# Karsa bridges\n\n| name | length | opened | toll |\n|---|---|---|---|\n| Velm | 31.5 | 1843-05-01 | yes |\n"
        "| Ost \\| West | 29 | 1911-02-03 04:30 |  |\n| Sund |  |  | no | note |\n"
    )
    assert ("column", "opened") in bridges.metadata


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


def test_a_workbook_of_nothing_is_empty(tmp_path: Path) -> None:
    assert reasons(workbook(tmp_path / "none.xlsx", One=[])) == ["It holds no table."]
    assert isinstance(only(workbook(tmp_path / "list.xlsx", One=[["Town"], ["Karsa"], ["Velm"]])), Document)
