"""Files that do harm, of some seventy kinds: none ends the run, each is a document or says why it is none."""

from __future__ import annotations

import gzip
import json
import os
import random
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fakes import sample_files
from fakes.sample_files import pdf, word_body, zipped
from iterative_rag.protocols import Skipped
from iterative_rag.sources.folder import Folder
from iterative_rag.sources.formats.format import shown
from iterative_rag.sources.formats.sandbox import Limits
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field

MB = 1_000_000
READ, ANY = "", "*"
Make = Callable[[Path], object]


@dataclass(frozen=True, slots=True)
class Hostile:
    """`reason` is part of the sentence with which the file is skipped; READ if it becomes a document, ANY for both."""

    name: str
    make: Make
    reason: str


def _bytes(data: bytes) -> Make:
    return lambda path: path.write_bytes(data)


def _noise(count: int) -> bytes:
    return random.Random(5).randbytes(count)


def _texts() -> dict[str, tuple[Make, str]]:
    long = ("---\ntitle: " + "x" * 300_000 + "\n---\nText.").encode()
    return {
        "line_endless.txt": (lambda path: path.write_bytes(b"word " * (18 * MB // 5)), READ),
        "line_without_spaces.md": (_bytes(b"x" * 120_000), READ),
        "binary.txt": (_bytes(_noise(5000)), "binary"),
        "utf16.txt": (_bytes("Plzeň lies on four rivers.".encode("utf-16")), READ),
        "utf16_without_mark.txt": (_bytes("Plzeň lies on four rivers.".encode("utf-16-le")), "UTF-16 without"),
        "utf16_cut.txt": (_bytes("Plzeň".encode("utf-16")[:-1]), "byte order mark"),
        "utf32.txt": (_bytes("Plzeň lies on four rivers.".encode("utf-32")), READ),
        "nul.txt": (_bytes(b"text\0text"), "NUL"),
        "surrogates.txt": (_bytes(b"half \xed\xa0\x80 a pair"), ANY),
        "doubtful.txt": (_bytes("Miasto Łódź.".encode("cp1250")), "in doubt"),
        "two_encodings.txt": (_bytes("Plzeň\n".encode() * 50 + "Plzeň\n".encode("cp1250") * 50), "up to a point"),
        "empty.txt": (_bytes(b""), "empty"),
        "front_matter_only.md": (_bytes(b"---\ntitle: x\n---\n"), "empty"),
        "front_matter_endless.md": (_bytes(long), READ),
        "front_matter_deep.md": (_bytes(f"---\ntags: {'[' * 3000}{']' * 3000}\n---\nText.".encode()), READ),
        "escapes.txt": (_bytes(b"\x1b[2J\x1b]0;title\x07 \xe2\x80\xae text"), READ),
    }


def remove(folder: Path) -> None:
    """The nested folders go, which are too deep for those who clean up."""
    places = [str(folder / "deep")]
    while os.path.isdir(f"{places[-1]}/d"):
        places.append(f"{places[-1]}/d")
    os.unlink(f"{places[-1]}/bottom.txt")
    for place in reversed(places):
        os.rmdir(place)


def _links() -> dict[str, tuple[Make, str]]:
    def link(target: str) -> Make:
        return lambda path: path.symlink_to(target)

    def deep(path: Path) -> None:
        path.mkdir()
        place = str(path)
        for _ in range(1200):  # deeper than Python's stack: pathlib could not make it
            place += "/d"
            os.mkdir(place)
        Path(f"{place}/bottom.txt").write_text("Down here.")

    def folder(path: Path) -> None:
        path.mkdir()
        (path / "inside.txt").write_text("Inside.")

    return {
        "self.txt": (link("self.txt"), "broken link"),
        "loop": (link("."), "read twice"),
        "out.txt": (link("/etc/passwd"), "out of the folder"),
        "endless.csv": (link("/dev/zero"), "out of the folder"),
        "pipe.txt": (lambda path: os.mkfifo(path), "not a regular file"),
        "folder.pdf": (folder, READ),
        "deep": (deep, READ),
        "\x1b[2J\n.txt": (_bytes(b"An odd name."), READ),
        os.fsdecode(b"odd\xff.json"): (_bytes(b'{"title": "Odd", "text": "An odd name."}'), READ),
        os.fsdecode(b"odd\xfe.pdf"): (_bytes(pdf("An odd name.")), READ),
    }


def _pages() -> dict[str, tuple[Make, str]]:
    def deep(tag: str, close: bool = False) -> Make:
        ends = f"</{tag}>" if close else ""
        return _bytes((f"<{tag}>" * 100_000 + "text" + ends * 100_000).encode())

    spans = "<table>" + "<tr><td rowspan=65534 colspan=1000>x</td></tr>" * 300 + "</table>"
    return {
        "deep_div.html": (deep("div", close=True), "levels deep"),
        "deep_tables.html": (_bytes(b"<table><tr><td>" * 20_000 + b"text"), ANY),
        "spans.html": (_bytes(spans.encode()), ANY),
        "attributes.html": (_bytes(b"<p " + b"a=b " * 6_000 + b">Text"), READ),
        "title_endless.html": (_bytes(b"<title>" + b"x" * 500_000 + b"</title><p>Text"), READ),
        "charset_lie.html": (_bytes(b"<meta charset=utf-8><p>" + "caf\u00e9 d\u00e9j\u00e0 vu".encode("cp1252")), READ),
        "scripts_only.html": (_bytes(b"<script>" + b"x();" * 10_000 + b"</script>"), "no text"),
    }


def _pdfs() -> dict[str, tuple[Make, str]]:
    good = pdf("One page of text.", "Another page.")
    bomb = zlib.compress(b"q " * 50 * MB, 9)
    packed = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(bomb), bomb)
    loop = {2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"}
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>"
    return {
        "text.pdf": (_bytes(b"This is no PDF."), "not a PDF"),
        "noise.pdf": (_bytes(b"%PDF-1.7\n" + _noise(50_000)), "damaged"),
        "tail_cut.pdf": (_bytes(good[:-200]), ANY),
        "locked.pdf": (_bytes(sample_files.locked_pdf()), "password"),
        "picture.pdf": (_bytes(pdf("", "")), "no text"),
        "page_loop.pdf": (_bytes(pdf("x", extra=loop)), ANY),
        "form_loop.pdf": (_bytes(pdf("x", extra={5: form + b"\nstream\n/X Do\nendstream"})), ANY),
        "bomb.pdf": (_bytes(pdf("x", extra={5: packed})), ANY),
        "deep_arrays.pdf": (_bytes(pdf("x", extra={5: b"[" * 100_000 + b"]" * 100_000})), ANY),
        "pages_many.pdf": (lambda path: path.write_bytes(pdf(*["Text."] * 180)), READ),
    }


def _words() -> dict[str, tuple[Make, str]]:
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    laugh = f'<!DOCTYPE x [<!ENTITY a0 "ha">{laughs}]>'.encode()
    stolen = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    paragraph = b"<w:p><w:r><w:t>Text.</w:t></w:r></w:p>"
    cell = b"<w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>"
    table = b"<w:tbl><w:tblPr/><w:tblGrid/>%b</w:tbl>"
    wide = b'<w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc></w:tr>'

    def understated(path: Path) -> None:
        """The archive says that its large part is small."""
        data = bytearray(word_body(paragraph, word__big_dot_xml=b" " * (30 * MB)))
        for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            start = -1
            while (start := data.find(mark, start + 1)) >= 0:
                if int.from_bytes(data[start + place : start + place + 4], "little") == 30 * MB:
                    data[start + place : start + place + 4] = (1000).to_bytes(4, "little")
        path.write_bytes(data)

    def parts(path: Path) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(11_000):
                archive.writestr(f"{number}.xml", b"")

    good = word_body(paragraph * 50)
    return {
        "flipped.docx": (_bytes(good[:300] + bytes(40) + good[340:]), "damaged"),
        "other_archive.docx": (_bytes(zipped(a=b"b")), "not a Word file"),
        "locked.docx": (_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)), "password"),
        "bomb.docx": (lambda path: path.write_bytes(word_body(paragraph, media__a=bytes(180 * MB))), "zip bomb"),
        "bomb_xml.docx": (lambda path: path.write_bytes(word_body(b"<w:p/>" * 5_000_000)), "zip bomb"),
        "bomb_understated.docx": (understated, "damaged"),
        "parts.docx": (parts, "zip bomb"),
        "laughs.docx": (_bytes(word_body(b"<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>", head=laugh)), "XML bomb"),
        "stolen.docx": (_bytes(word_body(b"<w:p><w:r><w:t>&e;</w:t></w:r></w:p>", head=stolen)), "XML bomb"),
        "table_endless.docx": (_bytes(word_body(table % ((b"<w:tr>" + cell * 10 + b"</w:tr>") * 1_800))), ANY),
        "spans.docx": (_bytes(word_body(table % (wide * 1000) + paragraph)), READ),
        "climbs_out.docx": (_bytes(word_body(paragraph, **{"..__..__evil_dot_txt": b"x"})), READ),
    }


def _tables() -> dict[str, tuple[Make, str]]:
    row = b"Velm Tower,1911,60 m\n"
    return {
        "cell_10_mb.csv": (_bytes(b"a,b\n1," + b"x" * (10 * MB) + b"\n2,y\n"), "cell holds more"),
        "endless_table.csv": (lambda path: path.write_bytes(b"name,year,height\n" + row * 60_000), READ),
        "quote_open.csv": (_bytes(b'a,b\n1,"' + b"x,y\n" * 500_000), "cell holds more"),
        "ragged.csv": (_bytes(b"a,b\n1\n1,2,3,4,5\n,,\n6,7\n"), READ),
        "late_encoding.csv": (_bytes(b"a,b\n" + b"1,2\n" * 400_000 + "é,ü\n".encode("cp1252")), ANY),
    }


def _records() -> dict[str, tuple[Make, str]]:
    def record(text: str) -> bytes:
        return json.dumps({"title": "T", "text": text}).encode() + b"\n"

    digits = b'{"title": "T", "text": "x", "n": ' + b"9" * MB + b"}"
    return {
        "deep.json": (_bytes(b"[" * 100_000), "too deeply"),
        "digits.json": (_bytes(digits), "not JSON"),
        "surrogates.json": (_bytes(rb'{"title": "x", "text": "half \ud800"}'), READ),
        "numbers.json": (_bytes(b"[" + b"1," * 300_000 + b"1]"), "more records were left out"),
        "lists.json": (lambda path: path.write_bytes(b"[" + b"[]," * 1_200_000 + b"1]"), ANY),
        "nan.json": (_bytes(b"NaN"), "not a JSON object"),
        "line_endless.jsonl": (lambda path: path.write_bytes(record("ok") + b"x" * (18 * MB)), "longer than"),
        "bad_lines.jsonl": (_bytes(record("ok") + b"1\n" * 300_000), "more records were left out"),
        "not_packed.jsonl.gz": (_bytes(b"not gzip"), "damaged"),
        "bomb.jsonl.gz": (lambda path: path.write_bytes(gzip.compress(record("ok") + bytes(54 * MB))), "longer"),
    }


def files() -> list[Hostile]:
    """All of them. Names are unique."""
    groups = (_texts, _links, _pages, _pdfs, _words, _tables, _records)
    return [Hostile(name, make, reason) for group in groups for name, (make, reason) in group().items()]


# --- the tests -----------------------------------------------------------------------------------


FILES = files()
Outcome = dict[str, list[Document | Skipped]]


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> list[Hostile]:
    """All of them with --nightly, else each second."""
    return FILES if request.config.getoption("nightly") else FILES[::2]


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, played: list[Hostile]) -> Outcome:
    """What became of each file, by its name; all in one folder, as a user would have them."""
    folder = tmp_path_factory.mktemp("hostile")
    for one in played:
        one.make(folder / one.name)
    outcome: Outcome = defaultdict(list)
    try:
        for item in Folder(folder, limits=Limits(seconds=60)).documents():
            name = as_field(item.source).removeprefix(f"{folder}/").partition(", part ")[0].strip()
            name = name.rpartition(":")[0] if name.rpartition(":")[2].isdigit() else name
            outcome[name.split("/")[0]].append(item)
    finally:
        if (folder / "deep").is_dir():
            remove(folder)
    return outcome


def test_each_is_a_document_or_has_its_reason(found: Outcome, played: list[Hostile]) -> None:
    """One test for all: as one each, several workers would make and read all of the files."""
    failed = {one.name: fault for one in played if (fault := fault_of(one, found[as_field(shown(one.name))]))}
    assert failed == {}


def fault_of(one: Hostile, items: Sequence[Document | Skipped]) -> str:
    """What is wrong with the outcome of a file; "" if nothing is."""
    documents = [item for item in items if isinstance(item, Document)]
    reasons = [item.reason for item in items if isinstance(item, Skipped)]
    faults = {
        "it vanished without a word": not items,
        "a document cannot be stored": not all(map(is_storable, documents)),
        "two documents have one id": len({item.id for item in documents}) < len(documents),
        f"no short sentence: {reasons}": not all(one.endswith(".") and len(one) < 250 for one in reasons),
    }
    if one.reason == READ:
        faults[f"it was not read: {reasons}"] = not documents or bool(reasons)
    elif one.reason != ANY:
        faults[f"another reason: {reasons}"] = not any(one.reason in reason for reason in reasons)
    return next((fault for fault, there in faults.items() if there), "")


def is_storable(document: Document) -> bool:
    stored, pages = document.title + document.text + document.source, list(document.pages)
    return (
        stored.encode(errors="ignore").decode() == stored  # what stores them takes no half characters
        and bool(document.text.strip())
        and "\0" not in document.text
        and "\n" not in document.title
        and pages == sorted(pages)
    )


def test_nothing_outside_the_folder_is_read(found: Outcome) -> None:
    texts = [item.text for items in found.values() for item in items if isinstance(item, Document)]
    assert not any("root:" in text for text in texts)


@pytest.mark.nightly
def test_a_million_bad_records_are_not_a_million_lines(found: Outcome) -> None:
    *first, last = found["numbers.json"]
    assert len(first) == 100
    assert isinstance(last, Skipped)
    assert "299,901 more" in last.reason
