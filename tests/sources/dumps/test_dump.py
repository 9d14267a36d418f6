"""MediaWiki dumps: which pages become documents, what a list of titles brings, and what a damaged dump says."""

from __future__ import annotations

import bz2
import tracemalloc
from pathlib import Path

import pytest

from fakes.mediawiki_dumps import HEAD, dump, page
from iterative_rag.protocols import Skipped
from iterative_rag.sources import open_source
from iterative_rag.sources.dumps.dump import MediaWikiDump
from iterative_rag.types import Document


def documents(source: MediaWikiDump) -> list[Document]:
    return [one for one in source.documents() if isinstance(one, Document)]


def reasons(source: MediaWikiDump) -> list[str]:
    return [one.reason for one in source.documents() if isinstance(one, Skipped)]


# --- a whole dump ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2", "dump.xml.gz"])
def test_articles_become_documents(tmp_path: Path, name: str) -> None:
    path = dump(
        tmp_path,
        page("Upper Mill", "The '''mill'''.[[Datei:A.jpg|x]]\n== Size ==\n{|\n! A\n|-\n| 1 < 2\n|}", 5),
        page("Mills", to="Upper Mill", number=6),
        page("Talk:Upper Mill", ns=1, number=7),
        page("Ann & Bo/Ä?", "Prose.", 8),
        name=name,
    )
    source = open_source(path)
    assert isinstance(source, MediaWikiDump)
    mill, ann = source.documents()
    assert isinstance(mill, Document)
    assert isinstance(ann, Document)
    assert mill.text == "# Upper Mill\n\nThe mill.\n\n## Size\n\n| A |\n|---|\n| 1 < 2 |\n"
    assert (mill.title, mill.url, mill.source) == (
        "Upper Mill",
        "https://mill.example/wiki/Upper_Mill",
        f"{path}:Upper Mill",
    )
    assert (ann.title, ann.url) == ("Ann & Bo/Ä?", "https://mill.example/wiki/Ann_%26_Bo/%C3%84%3F")
    assert source.total is None


def test_what_is_no_article_is_skipped_with_its_reason(tmp_path: Path) -> None:
    path = dump(
        tmp_path,
        page("Large", "x" * 2_100_000),
        page("Empty", " "),
        page("Code", "return", model="Scribunto"),
        page("Bare", "{{stub}}[[Category:X]]"),
        page("Endless", "{|\n" + "|| x" * 2000 + "\n|-\n| y" * 1100),
        page("Good", "Text.", 2),
    )
    source = MediaWikiDump(path)
    assert [one.title for one in documents(source)] == ["Good"]
    found = {one.source.rpartition(":")[2]: one.reason for one in source.documents() if isinstance(one, Skipped)}
    assert found == {
        "Large": "It is larger than the limit of 2,097,152 characters.",
        "Empty": "It is empty.",
        "Code": "It is not wikitext, but Scribunto.",
        "Bare": "It holds no text besides templates, files and references.",
        "Endless": "A table of the page has more than 2,000,000 cells.",
    }


# --- a list of titles ------------------------------------------------------------------------

LISTED = (
    page("Goal", "The goal.", 1),
    page("Other", "x", 2),
    page("Way", to="Goal#Part", number=3),
    page("Ring", to="ring", number=4),
    page("A & B", "Both.", 5),
    page("Far", to="Way", number=6),
)


def test_a_list_brings_its_pages_and_what_its_redirects_lead_to(tmp_path: Path) -> None:
    path = dump(tmp_path, *LISTED)
    source = MediaWikiDump(path, titles=["far", "A_&_B", "Ring", "Nowhere"])
    assert {one.title: one.text for one in documents(source)} == {
        "Goal": "# Goal\n\nThe goal.\n",
        "A & B": "# A & B\n\nBoth.\n",
    }
    assert [one.source for one in source.documents() if isinstance(one, Skipped)] == [f"{path}:Nowhere"]
    assert source.total == 4
    assert documents(source)[0].id in {one.id for one in documents(MediaWikiDump(path))}
    assert documents(source)[0].url is not None


# --- damaged and hostile ---------------------------------------------------------------------


@pytest.mark.parametrize("name", ["dump.xml", "dump.xml.bz2", "dump.xml.gz"])
def test_a_dump_cut_off_gives_what_it_has_and_says_so_once(tmp_path: Path, name: str) -> None:
    pages = [page(f"P{number}", f"Text {number}. " + "word " * number, number) for number in range(400)]
    path = dump(tmp_path, *pages, name=name)
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * 0.9)])
    source = MediaWikiDump(path)
    (reason,) = reasons(source)
    assert "cut off" in reason
    if name != "dump.xml.bz2":  # of one bz2 block nothing can be read when its end is missing
        assert 100 < len(documents(source)) < 400


@pytest.mark.parametrize(
    "prolog",
    [
        '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
def test_document_types_and_entities_are_refused_before_any_page(tmp_path: Path, prolog: str) -> None:
    path = dump(tmp_path, page("A", "&x;&b;"), head=prolog + HEAD)
    path.write_text(path.read_text().replace("&amp;", "&"))
    (reason,) = reasons(MediaWikiDump(path))
    assert "declares a document type" in reason
    assert documents(MediaWikiDump(path)) == []


@pytest.mark.parametrize(
    ("inner", "reason"),
    [("<a>" * 1000, "nested too deeply"), ("<!--" + "x" * 20_000_000, "longer than"), ("<page></pag>", "damaged")],
)
def test_xml_that_is_no_dump_ends_with_its_reason(tmp_path: Path, inner: str, reason: str) -> None:
    source = MediaWikiDump(dump(tmp_path, page("A"), inner))
    assert [one.title for one in documents(source)] == ["A"]
    assert reason in reasons(source)[0]


@pytest.mark.nightly
def test_memory_does_not_grow_with_the_dump(tmp_path: Path) -> None:
    """A bz2 of 70 MB, one page of which is 10 MB: no more than that page is held."""
    path = tmp_path / "big.xml.bz2"
    with bz2.open(path, "wt", compresslevel=1) as file:
        file.write(HEAD + "<page><title>Large</title><ns>0</ns><id>1</id><revision><text>")
        for _ in range(10):
            file.write("x" * 1_000_000)
        file.write("</text></revision></page>" + page("Talk:X", "y" * 1_000_000, ns=1) * 60 + page("End", number=2))
        file.write("</mediawiki>")
    list(MediaWikiDump(dump(tmp_path, page("Warm"))).documents())
    tracemalloc.start()
    try:
        found = list(MediaWikiDump(path).documents())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert [type(one) for one in found] == [Skipped, Document]
    assert peak < 48_000_000
