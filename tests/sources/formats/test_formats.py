"""Each format: what of a file becomes text, what it is called, what tells its documents apart."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import sys
from pathlib import Path
from typing import Any

import pytest

from fakes import sample_files
from iterative_rag.embedders.hashing import HashingEmbedder
from iterative_rag.index.corpora import Corpora
from iterative_rag.ingest import ingest
from iterative_rag.protocols import Skipped
from iterative_rag.registry import FORMATS
from iterative_rag.sources import open_source
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.known_formats import format_in_folder
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document


def documents(path: Path) -> list[Document]:
    items = list(open_source(path).documents())
    assert not [item for item in items if isinstance(item, Skipped)]
    return [item for item in items if isinstance(item, Document)]


def only(path: Path) -> Document:
    (document,) = documents(path)
    return document


def reasons(path: Path, limits: Limits | None = None) -> list[str]:
    return [item.reason for item in Folder(path, limits=limits).documents() if isinstance(item, Skipped)]


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- web pages -------------------------------------------------------------------------------

PAGE = """<!doctype html><html><head><title>Velm Tower – Towers of Karsa</title>
<link rel="canonical" href="https://towers.example/velm"><style>p {color: red}</style></head><body>
<header>Towers of Karsa</header><nav><a href="/">Home</a></nav><main><h1>Velm Tower</h1>
<p>Built <b>in</b> 1911, it is 10<sup>2</sup> m high.</p><script>track()</script>
<table><tr><th>Part</th><th>Height</th></tr><tr><td rowspan="2">Lower</td><td>31 m</td></tr><tr><td>9 m</td></tr>
</table><p hidden>Not shown.</p><aside>Advertisement</aside></main><footer>Imprint</footer></body></html>"""


def test_a_page_is_its_text_with_its_tables_and_nothing_around_it(tmp_path: Path) -> None:
    page = only(written(tmp_path / "a.html", PAGE))
    assert (page.title, page.url) == ("Velm Tower", "https://towers.example/velm")
    assert page.text == (
        "# Velm Tower\n\nBuilt in 1911, it is 10² m high.\n\n"
        "| Part | Height |\n|---|---|\n| Lower | 31 m |\n| Lower | 9 m |\n"
    )


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title>From the title</title><p>x", "From the title"),
        ("<h1>From the <i>heading</i></h1><p>x", "From the heading"),
        ("<p>x", "a page"),
    ],
)
def test_a_page_has_a_title(tmp_path: Path, html: str, title: str) -> None:
    page = only(written(tmp_path / "a_page.htm", html))
    assert page.title == title
    assert page.text.count(title) == 1


def test_a_page_says_its_encoding(tmp_path: Path) -> None:
    html = '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-2"><p>Miasto Łódź.'
    assert "Miasto Łódź." in only(written(tmp_path / "a.html", html.encode("iso-8859-2"))).text


# --- PDF -------------------------------------------------------------------------------------


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


# --- Word ------------------------------------------------------------------------------------


def test_a_word_file_is_read_in_its_order_with_merged_cells_filled_in(tmp_path: Path) -> None:
    word = only(sample_files.docx(tmp_path / "bridge.docx"))
    assert word.title == "Karsa Bridge"
    assert word.text == (
        "# Karsa Bridge\n\nThe bridge crosses the Velm.\n\n## History\n\n- Begun in 1841\n- Opened in 1843\n\n"
        "| Span | Length | Built |\n|---|---|---|\n| West | 31 m | 1841; 1842 |\n| East | 29 m | 1841; 1842 |\n"
        "| All \\| both | 60 m | 60 m |\n\nAfter the table."
    )


# --- CSV -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("a.csv", "name,city\nAnn,Rome\nBob,Paris\n", ["| name | city |", "| Ann | Rome |", "| Bob | Paris |"]),
        ("a.csv", "name;city\nAnn;Rome, Italy\n", ["| name | city |", "| Ann | Rome, Italy |"]),
        ("a.tsv", 'name\tcity\n"Ann ""A."""\tx|y\n', ["| name | city |", '| Ann "A." | x\\|y |']),
        ("a.csv", 'name,said\nAnn,"two\nlines"\n', ["| name | said |", "| Ann | two lines |"]),
        ("a.csv", "1909,31\n1911,29\n1913,30\n", ["|  |  |", "| 1909 | 31 |", "| 1911 | 29 |", "| 1913 | 30 |"]),
        ("a.csv", "name\nAnn\n", ["| name |", "| Ann |"]),
    ],
)
def test_a_table_is_one_with_its_header(tmp_path: Path, name: str, content: str, rows: list[str]) -> None:
    table = only(written(tmp_path / name, content))
    assert table.title == "a"
    head, rule, *lines = table.text.removeprefix("# a\n\n").splitlines()
    assert [head, *lines] == rows
    assert set(rule) == {"|", "-"}


def test_a_long_table_becomes_several_with_the_header_in_each(tmp_path: Path) -> None:
    rows = [f"Tower {number},{number} m" for number in range(1, 4502)]
    parts = documents(written(tmp_path / "towers.csv", "\n".join(["name,height", *rows])))
    assert [one.title for one in parts] == [
        "towers (rows 1–2000)",
        "towers (rows 2001–4000)",
        "towers (rows 4001–4501)",
    ]
    assert len({one.id for one in parts}) == 3
    assert all("| name | height |" in one.text for one in parts)
    shown = [line for one in parts for line in one.text.splitlines() if line.startswith("| Tower ")]
    assert shown == [f"| {row.replace(',', ' | ')} |" for row in rows]


def test_the_first_documents_of_a_table_keep_their_ids_when_it_grows(tmp_path: Path) -> None:
    rows = ["name,height", *(f"Tower {number},{number} m" for number in range(3000))]
    path = tmp_path / "towers.csv"
    before = [one.id for one in documents(written(path, "\n".join(rows[:100])))]
    after = [one.id for one in documents(written(path, "\n".join(rows)))]
    assert after[: len(before)] == before


# --- JSON ------------------------------------------------------------------------------------


def test_json_records_and_squad(tmp_path: Path) -> None:
    records = [{"title": "One", "text": "Text one.", "url": "https://x.example/1"}, {"title": "Two", "passage": "Two."}]
    one, two = documents(written(tmp_path / "records.json", json.dumps(records)))
    assert (one.title, one.text, one.url) == ("One", "Text one.", "https://x.example/1")
    assert two.text == "Two."
    asked = {"context": "Second.", "qas": [{"question": "Who?"}]}
    squad = {
        "version": "2.0",
        "data": [
            {"title": "Karsa_%28town%29", "paragraphs": [{"context": "First."}, asked]},
            {"title": "Velm", "paragraphs": [{"context": "A river."}]},
            {"title": "Karsa_%28town%29", "paragraphs": [{"context": "Third."}]},
        ],
    }
    spaced = [' \n{\n "data" : [ ] }', ' [ {"title": "A", "text": "B"} , {"title": "C", "text": "D"} ] ']
    assert [one.title for one in documents(written(tmp_path / "spaced.json", spaced[1]))] == ["A", "C"]
    assert "neither a list" in reasons(written(tmp_path / "none.json", spaced[0]))[0]
    assert "not JSON" in reasons(written(tmp_path / "half.json", '[{"title": "A", "text": "B"} {}]'))[0]
    karsa, velm = documents(written(tmp_path / "squad.json", json.dumps(squad)))
    assert (karsa.title, karsa.text) == ("Karsa (town)", "# Karsa (town)\n\nFirst.\n\nSecond.\n\nThird.")
    assert velm.text == "# Velm\n\nA river."


# --- folders that mix them -------------------------------------------------------------------


def mixed(folder: Path) -> Path:
    folder.mkdir()
    sample_files.docx(folder / "word.docx")
    record = '{"title": "Same", "text": "Same."}\n'
    files: dict[str, str | bytes] = {
        "page.html": PAGE,
        "tower.pdf": sample_files.pdf("Page one."),
        "table.csv": "a,b\n1,2\n",
        "one.json": record,
        "two.jsonl": record,
        "three.jsonl": record,
        "text.txt": "Text.",
    }
    for name, content in files.items():
        written(folder / name, content)
    return folder


def test_a_folder_may_mix_formats_and_ids_do_not_depend_on_its_place(tmp_path: Path) -> None:
    first, second = (documents(mixed(tmp_path / name)) for name in ("first", "second"))
    assert len(first) == 8
    assert len({one.id for one in first}) == 8
    assert [one.id for one in first] == [one.id for one in second]
    assert open_source(tmp_path / "first").total is None  # a table may be many documents


@pytest.mark.parametrize("module", ["pypdfium2", "docx", "selectolax", "html_to_markdown"])
def test_without_the_extra_a_file_is_skipped_and_the_extra_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str
) -> None:
    folder = mixed(tmp_path / "mixed")
    monkeypatch.setitem(sys.modules, module, None)
    (reason,) = reasons(folder)
    assert "pip install 'iterative-rag[files]'" in reason


def test_without_the_extra_an_unknown_encoding_names_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "charset_normalizer", None)
    written(tmp_path / "a.txt", "A café.".encode("cp1252"))
    assert "iterative-rag[files]" in reasons(tmp_path)[0]


def test_every_suffix_has_a_reader(tmp_path: Path) -> None:
    names = [f"a{suffix}" for suffix in FORMATS.names if format_in_folder(f"a{suffix}")]
    for name in names:
        written(tmp_path / name, b"\0")
    skipped = {Path(item.source).name for item in Folder(tmp_path).documents() if isinstance(item, Skipped)}
    assert {*names} <= {name.partition(":")[0] for name in skipped}


# --- limits ----------------------------------------------------------------------------------


def test_a_reader_that_takes_too_long_or_too_much_costs_one_file(tmp_path: Path) -> None:
    written(tmp_path / "a.html", "<p>Before.")
    written(tmp_path / "b.json", b'{"a": [' + b"[]," * 9_000_000 + b"1]}")
    written(tmp_path / "c.html", "<b>" * 1_000_000 + "x")
    written(tmp_path / "d.html", "<p>After.")
    items = list(Folder(tmp_path, limits=Limits(megabytes=150)).documents())
    assert [item.title for item in items if isinstance(item, Document)] == ["a", "d"]
    assert any("more than 150 MB" in item.reason for item in items if isinstance(item, Skipped))
    slow = reasons(tmp_path / "b.json", Limits(seconds=0.01))
    assert "longer than" in slow[0]


def test_a_child_that_dies_costs_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    written(tmp_path / "a.html", "<p>Text.")
    written(tmp_path / "b.txt", "Text.")
    items = list(Folder(tmp_path).documents())
    assert [item.title for item in items if isinstance(item, Document)] == ["b"]
    assert "crashed" in reasons(tmp_path)[0]


def test_a_folder_that_is_not_read_to_its_end_leaves_no_child(tmp_path: Path) -> None:
    reading: Any = Folder(mixed(tmp_path / "mixed")).documents()
    next(reading)
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if not children.is_file():
        pytest.skip("no list of children here")
    assert children.read_text().split()
    before = set(children.read_text().split())
    reading.close()
    assert set(children.read_text().split()) < before
