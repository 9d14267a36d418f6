"""EPUB books are read in their order, with what they say of themselves."""

from __future__ import annotations

import zipfile
from pathlib import Path

from iterative_rag.sources import open_source
from iterative_rag.sources.metadata import NOT_READ
from iterative_rag.types import Document
from tests.sources.formats.reading import only, reasons

CONTAINER = (
    '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OPS/book.opf"/></rootfiles></container>'
)
PACKAGE = (
    '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
    "<dc:title>Bridges of Karsa</dc:title><dc:creator>Edda Holm</dc:creator><dc:language>en</dc:language>"
    '<dc:date>1911-05-02</dc:date></metadata><manifest><item id="b" href="two%20spans.xhtml"/><item id="a" '
    'href="text/one.xhtml"/><item id="c" href="cover.xhtml"/></manifest><spine><itemref idref="c"/>'
    '<itemref idref="a"/><itemref idref="b"/></spine></package>'
)
PAGE = (
    '<?xml version="1.0"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head><title>{0}</title></head>'
    "<body>{1}</body></html>"
)
PARTS = {
    "mimetype": "application/epub+zip",
    "META-INF/container.xml": CONTAINER,
    "OPS/book.opf": PACKAGE,
    "OPS/text/one.xhtml": PAGE.format("The Velm", "<h1>The Velm</h1><p>It was bridged in 1843.</p>"),
    "OPS/two spans.xhtml": PAGE.format(
        "Spans", "<table><tr><th>Span</th><th>m</th></tr><tr><td>West</td><td>31</td></tr></table>"
    ),
    "OPS/cover.xhtml": PAGE.format("Cover", '<img src="cover.png"/>'),
}


def book(path: Path, **changed: str | None) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in (PARTS | changed).items():
            if content is not None:
                archive.writestr(name, content)
    return path


def test_pages_become_sections_in_reading_order(tmp_path: Path) -> None:
    read = only(book(tmp_path / "karsa.epub"))
    assert read.title == "Bridges of Karsa"
    assert read.text == (
        "# Bridges of Karsa\n\n## The Velm\n\nIt was bridged in 1843.\n\n"
        "## Spans\n\n| Span | m |\n|---|---|\n| West | 31 |\n"
    )
    assert {("creator", "Edda Holm"), ("date", "1911-05-02"), ("language", "en")} <= set(read.metadata)


def test_what_cannot_be_read_has_its_reason(tmp_path: Path) -> None:
    entity = '<!DOCTYPE x [<!ENTITY a "b">]>' + CONTAINER
    assert "an XML bomb" in reasons(book(tmp_path / "bomb.epub", **{"META-INF/container.xml": entity}))[0]
    assert "damaged (KeyError)" in reasons(book(tmp_path / "half.epub", **{"OPS/book.opf": None}))[0]
    locked = '<encryption><CipherReference URI="OPS/text/one.xhtml"/></encryption>'
    assert "(DRM)" in reasons(book(tmp_path / "locked.epub", **{"META-INF/encryption.xml": locked}))[0]
    whole = book(tmp_path / "whole.epub").read_bytes()
    (tmp_path / "cut.epub").write_bytes(whole[:-100])
    assert "damaged (BadZipFile)" in reasons(tmp_path / "cut.epub")[0]


def test_a_page_that_is_damaged_costs_that_page_alone(tmp_path: Path) -> None:
    path = tmp_path / "crc.epub"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in PARTS.items():
            archive.writestr(name, content)
    path.write_bytes(path.read_bytes().replace(b"bridged in 1843", b"bridged in 9999"))
    assert reasons(path) == ["Its page 'OPS/text/one.xhtml' is damaged (BadZipFile)."]
    (rest,) = (item for item in open_source(path).documents() if isinstance(item, Document))
    assert rest.text.startswith("# Bridges of Karsa\n\n## Spans")
    assert (NOT_READ, "pages without text: 1") in rest.metadata
