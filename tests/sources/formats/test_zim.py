"""Kiwix archives: written here with libzim's own Creator, then read as documents."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources import open_source
from iterative_rag.sources.zim_file import ZimArchive
from iterative_rag.types import Document
from tests.zim_archives import Entry, archive

MILL = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Upper Mill</title><style>p {}</style>
<link rel="canonical" href="https://en.wiki.example/wiki/Upper_Mill"></head><body><header>Menu</header>
<div id="content"><h1 id="openzim-page-title">Upper Mill</h1>
<table class="infobox"><tr><th colspan="2">Upper Mill</th></tr>
<tr><th>Built</th><td>1900<sup id="cite_ref-1" class="reference">[1]</sup></td></tr></table>
<p>The <b>mill</b> by the <a href="Orr">Orr</a>.</p>
<details open data-level="2"><summary class="section-heading"><h2 id="S">Size</h2></summary>
<table class="wikitable"><tr><th rowspan="2">Part</th><th colspan="2">Size</th></tr><tr><th>m</th><th>ft</th></tr>
<tr><td>Wheel</td><td>3</td><td>10</td></tr></table></details></div>
<div class="zim-footer">This article is issued from a wiki.</div></body></html>"""


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return archive(
        tmp_path / "wiki.zim",
        Entry("Upper_Mill", MILL),
        Entry("Lower_Mill", "<body><p>The other.</p></body>", title="Lower Mill"),
        Entry("a.png", b"\x89PNG\x00", mime="image/png"),
        Entry("style.css", "p {}", mime="text/css"),
        Entry("Broken", "<table><tr><td>One<td>Two</table><p>Open <b>bold <i>both</b> <div>and on &#xe002;9&#xe002;"),
        Entry("Binary", b"<p>\xff\x00\xfe</p>"),
        Entry("Bare", "<html><body><h1>Bare</h1></body></html>"),
        Entry("Deep", "<div>" * 30_000 + "x"),
        redirects={"The_Mill": "Upper_Mill", "Old_Mill": "The_Mill"},
        Language="deu,eng",
        Name="wiki_test",
        Source="https://de.wikipedia.org/",
        Title="Test",
    )


def documents(source: ZimArchive) -> dict[str, Document]:
    return {one.title: one for one in source.documents() if isinstance(one, Document)}


def reasons(source: ZimArchive) -> dict[str, str]:
    return {one.source.rpartition(":")[2]: one.reason for one in source.documents() if isinstance(one, Skipped)}


def test_every_article_becomes_a_document_and_nothing_else_does(wiki: Path) -> None:
    source = open_source(wiki)
    assert isinstance(source, ZimArchive)
    found = documents(source)
    assert set(found) - {"Deep"} == {"Upper Mill", "Lower Mill", "Broken"}
    assert found["Upper Mill"].text == (
        "# Upper Mill\n\n| Upper Mill |  |\n|---|---|\n| Built | 1900 |\n\nThe mill by the Orr.\n\n## Size\n\n"
        "| Part | Size / m | Size / ft |\n|---|---|---|\n| Wheel | 3 | 10 |\n"
    )
    assert all(word in found["Broken"].text for word in ("One", "Two", "Open bold both", "and on"))


def test_what_cannot_be_read_is_skipped_with_its_reason(wiki: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = reasons(ZimArchive(wiki))
    assert "binary" in found["Binary"]
    assert found["Bare"] == "It holds no text besides scripts, menus and forms."
    monkeypatch.setattr("iterative_rag.sources.zim_file.MAX_BYTES", 500)
    assert reasons(ZimArchive(wiki))["Upper_Mill"] == "It is larger than the limit of 500 bytes."


def test_a_list_of_titles_follows_redirects_and_says_what_is_not_there(wiki: Path) -> None:
    source = ZimArchive(wiki, titles=["lower_Mill", "Old Mill", "Upper Mill", "a.png", "Nowhere", ""])
    assert [one.title for one in source.documents() if isinstance(one, Document)] == ["Lower Mill", "Upper Mill"]
    assert set(reasons(source)) == {"a.png", "Nowhere", ""}
    assert source.total == 6


def test_what_is_no_archive_or_holds_no_article_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no file"):
        list(ZimArchive(tmp_path / "none.zim").documents())
    (tmp_path / "text.zim").write_text("no archive" * 100)
    with pytest.raises(CorpusError, match="not a readable ZIM archive"):
        list(ZimArchive(tmp_path / "text.zim").documents())
    whole = archive(tmp_path / "whole.zim", Entry("A", "<p>x</p>")).read_bytes()
    (tmp_path / "cut.zim").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match="not a readable ZIM archive"):
        list(ZimArchive(tmp_path / "cut.zim").documents())
    with pytest.raises(CorpusError, match="holds no article"):
        list(ZimArchive(archive(tmp_path / "e.zim", Entry("a.png", b"x", mime="image/png"))).documents())


@settings(deadline=None, max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(flips=st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=20))
def test_no_damage_raises_anything_but_the_corpus_error(wiki: Path, flips: list[tuple[int, int]]) -> None:
    data = bytearray(wiki.read_bytes())
    for at, value in flips:
        data[at % len(data)] = value
    path = wiki.with_name("damaged.zim")
    path.write_bytes(data)
    for source in (ZimArchive(path), ZimArchive(path, titles=["Old Mill", "Broken"])):
        try:
            found: list[object] = [*source.documents(), source.total]
        except CorpusError as error:
            found = [str(error)]
        assert found
