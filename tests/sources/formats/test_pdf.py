"""PDF files keep their pages."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

from fakes import sample_files
from iterative_rag.embedders.hashing import HashingEmbedder
from iterative_rag.index.corpora import Corpora
from iterative_rag.ingest import ingest
from iterative_rag.sources import open_source
from tests.sources.formats.reading import only, written


def test_a_pdf_keeps_its_pages(tmp_path: Path) -> None:
    pages = ("The tower was begun in 1909 and", "finished in 1911.", "", "It is – of course – high.")
    pdf = only(written(tmp_path / "the_tower.pdf", sample_files.pdf(*pages, info="Velm Tower")))
    assert pdf.title == "Velm Tower"
    assert pdf.text == "The tower was begun in 1909 and\nfinished in 1911.\n\nIt is – of course – high."
    assert [pdf.page_at(pdf.text.index(word)) for word in ("begun", "finished", "high")] == [1, 2, 4]
    assert [pdf.page_at(start) for start in pdf.pages] == [1, 2, 3, 4]


def test_a_pdf_without_a_title_of_its_own_has_its_file_name(tmp_path: Path) -> None:
    pdf = only(written(tmp_path / "the_tower.pdf", sample_files.pdf("x", info="Microsoft Word - tower_final2.doc")))
    assert pdf.title == "the tower"


def test_the_index_keeps_pages(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    written(folder / "a.pdf", sample_files.pdf("Page one.", "Page two."))
    written(folder / "b.txt", "No pages.")
    corpora, embedder = Corpora(tmp_path / "corpora"), HashingEmbedder()
    ingest([open_source(folder)], corpora, "mine", embedder)
    with contextlib.closing(corpora.open("mine", embedder)) as corpus:
        found = {one.title: one for one in map(corpus.document, (hit[0] for hit in _ids(tmp_path)))}
    assert found["a"].pages == (0, 11)
    assert found["b"].pages == ()


def _database(place: Path) -> Path:
    (database,) = [
        path for path in (place / "corpora" / "mine").iterdir() if path.suffix in (".db", ".sqlite", ".sqlite3")
    ]
    return database


def _ids(place: Path) -> list[tuple[str]]:
    with contextlib.closing(sqlite3.connect(_database(place))) as database:
        return database.execute("SELECT id FROM documents").fetchall()
