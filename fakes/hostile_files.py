"""More than a hundred files that do harm, or try to: each with how it is made and what must become of it.

`Size` is how large the large ones are: small in the tests, full in the reliability bench.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fakes import sample_files
from fakes.sample_files import pdf, word_body, zipped


@dataclass(frozen=True, slots=True)
class Size:
    """`megabytes` of an endless line, `thousand` instead of a thousand repetitions."""

    megabytes: int
    thousand: int


SMALL, FULL = Size(18, 60), Size(100, 1000)
MB = 1_000_000
READ, ANY = "", "*"
Make = Callable[[Path, Size], None]


@dataclass(frozen=True, slots=True)
class Hostile:
    """`reason` is part of the sentence with which the file is skipped; READ if it becomes a document, ANY for both."""

    name: str
    make: Make
    reason: str


def _bytes(data: bytes | Callable[[Size], bytes]) -> Make:
    def make(path: Path, size: Size) -> None:
        path.write_bytes(data if isinstance(data, bytes) else data(size))

    return make


def _noise(count: int) -> bytes:
    return random.Random(5).randbytes(count)


def _texts() -> dict[str, tuple[Make, str]]:
    long = ("---\ntitle: " + "x" * 300_000 + "\n---\nText.").encode()
    return {
        "line_100_mb.txt": (_bytes(lambda size: b"word " * (size.megabytes * MB // 5)), READ),
        "line_in_bounds.txt": (_bytes(lambda size: b"word " * (size.megabytes * MB // 35)), READ),
        "line_without_spaces.md": (_bytes(lambda size: b"x" * (size.thousand * 2000)), READ),
        "wide_characters.txt": (_bytes(lambda size: "😀 word ".encode() * (size.thousand * 1000)), READ),
        "binary.txt": (_bytes(_noise(5000)), "binary"),
        "binary_without_nul.md": (_bytes(bytes(one or 1 for one in _noise(5000))), "neither"),
        "packed.txt": (_bytes(gzip.compress(_noise(999))), ANY),
        "utf16.txt": (_bytes("Plzeň lies on four rivers.".encode("utf-16")), READ),
        "utf16_without_mark.txt": (_bytes("Plzeň lies on four rivers.".encode("utf-16-le")), "UTF-16 without"),
        "utf16_be_without_mark.md": (_bytes("Plzeň lies on four rivers.".encode("utf-16-be")), "UTF-16 without"),
        "utf16_cut.txt": (_bytes("Plzeň".encode("utf-16")[:-1]), "byte order mark"),
        "utf16_half_pair.txt": (_bytes(b"\xff\xfe\x00\xd8a\0"), "byte order mark"),
        "utf32.txt": (_bytes("Plzeň lies on four rivers.".encode("utf-32")), READ),
        "nul.txt": (_bytes(b"text\0text"), "NUL"),
        "surrogates.txt": (_bytes(b"half \xed\xa0\x80 a pair"), ANY),
        "overlong.txt": (_bytes(b"..\xc0\xaf..\xc0\xaf"), ANY),
        "doubtful.txt": (_bytes("Miasto Łódź.".encode("cp1250")), "in doubt"),
        "two_encodings.txt": (_bytes("Plzeň\n".encode() * 50 + "Plzeň\n".encode("cp1250") * 50), "up to a point"),
        "empty.txt": (_bytes(b""), "empty"),
        "mark_only.txt": (_bytes(b"\xef\xbb\xbf"), "empty"),
        "spaces.md": (_bytes(lambda size: b" \n" * (size.thousand * 1000)), "empty"),
        "front_matter_only.md": (_bytes(b"---\ntitle: x\n---\n"), "empty"),
        "front_matter_endless.md": (_bytes(long), READ),
        "heading_endless.md": (_bytes(lambda size: b"#" * (size.thousand * 1000) + b" x"), READ),
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
        return lambda path, size: path.symlink_to(target)

    def deep(path: Path, size: Size) -> None:
        path.mkdir()
        place = str(path)
        for _ in range(1200):  # deeper than Python's stack: pathlib could not make it
            place += "/d"
            os.mkdir(place)
        Path(f"{place}/bottom.txt").write_text("Down here.")

    def folder(path: Path, size: Size) -> None:
        path.mkdir()
        (path / "inside.txt").write_text("Inside.")

    return {
        "self.txt": (link("self.txt"), "broken link"),
        "loop": (link("."), "read twice"),
        "out.txt": (link("/etc/passwd"), "out of the folder"),
        "endless.csv": (link("/dev/zero"), "out of the folder"),
        "nowhere.pdf": (link("missing.pdf"), "broken link"),
        "pipe.pdf": (lambda path, size: os.mkfifo(path), "not a regular file"),
        "pipe.txt": (lambda path, size: os.mkfifo(path), "not a regular file"),
        "folder.pdf": (folder, READ),
        "deep": (deep, READ),
        "\x1b[2J\n.txt": (_bytes(b"An odd name."), READ),
        os.fsdecode(b"odd\xff.json"): (_bytes(b'{"title": "Odd", "text": "An odd name."}'), READ),
        os.fsdecode(b"odd\xfe.pdf"): (_bytes(pdf("An odd name.")), READ),
    }


def _pages() -> dict[str, tuple[Make, str]]:
    def deep(tag: str, close: bool = False) -> Make:
        ends = f"</{tag}>" if close else ""
        return _bytes(lambda size: (f"<{tag}>" * 100_000 + "text" + ends * 100_000).encode())

    spans = "<table>" + "<tr><td rowspan=65534 colspan=1000>x</td></tr>" * 300 + "</table>"
    cells = "<table><tr>" + "<td>x</td>" * 100_000 + "</tr></table>"
    return {
        "deep_div.html": (deep("div", close=True), "levels deep"),
        "deep_b.html": (deep("b"), "levels deep"),
        "deep_list.htm": (deep("ul"), "levels deep"),
        "deep_tables.html": (_bytes(b"<table><tr><td>" * 20_000 + b"text"), ANY),
        "spans.html": (_bytes(spans.encode()), ANY),
        "columns.html": (_bytes(cells.encode()), ANY),
        "tags.html": (_bytes(lambda size: b"<br>a" * (size.thousand * 3000)), ANY),
        "attributes.html": (_bytes(lambda size: b"<p " + b"a=b " * (size.thousand * 100) + b">Text"), READ),
        "comment_open.html": (_bytes(b"<p>Text<!-- " + b"x" * 100_000), READ),
        "title_endless.html": (_bytes(b"<title>" + b"x" * 500_000 + b"</title><p>Text"), READ),
        "nul.html": (_bytes(b"<p>\0text"), "NUL"),
        "utf16.html": (_bytes("<p>Plzeň".encode("utf-16")), READ),
        "charset_lie.html": (_bytes(b"<meta charset=utf-8><p>" + "caf\u00e9 d\u00e9j\u00e0 vu".encode("cp1252")), READ),
        "charset_unknown.html": (_bytes("<meta charset=x-klingon><p>Miasto Łódź.".encode("cp1250")), "in doubt"),
        "scripts_only.html": (_bytes(b"<script>" + b"x();" * 10_000 + b"</script>"), "no text"),
        "binary.htm": (_bytes(_noise(3000)), "binary"),
        "empty.html": (_bytes(b"<html></html>"), "no text"),
    }


def _pdfs() -> dict[str, tuple[Make, str]]:
    good = pdf("One page of text.", "Another page.")
    bomb = zlib.compress(b"q " * 50 * MB, 9)
    packed = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(bomb), bomb)
    loop = {2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>"}
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >> /Length 5 >>"
    return {
        "empty.pdf": (_bytes(b""), "empty"),
        "text.pdf": (_bytes(b"This is no PDF."), "not a PDF"),
        "head_only.pdf": (_bytes(b"%PDF-1.7\n"), "damaged"),
        "noise.pdf": (_bytes(b"%PDF-1.7\n" + _noise(50_000)), "damaged"),
        "half.pdf": (_bytes(good[: len(good) // 2]), ANY),
        "tail_cut.pdf": (_bytes(good[:-200]), ANY),
        "flipped.pdf": (_bytes(bytes(255 - one if place % 97 == 0 else one for place, one in enumerate(good))), ANY),
        "locked.pdf": (_bytes(sample_files.locked_pdf()), "password"),
        "no_pages.pdf": (_bytes(pdf()), "damaged"),
        "picture.pdf": (_bytes(pdf("", "")), "no text"),
        "count_lie.pdf": (_bytes(pdf("x", extra={2: b"<< /Type /Pages /Kids [4 0 R] /Count 2000000000 >>"})), ANY),
        "page_loop.pdf": (_bytes(pdf("x", extra=loop)), ANY),
        "form_loop.pdf": (_bytes(pdf("x", extra={5: form + b"\nstream\n/X Do\nendstream"})), ANY),
        "bomb.pdf": (_bytes(pdf("x", extra={5: packed})), ANY),
        "length_lie.pdf": (_bytes(good.replace(b"/Length ", b"/Length 99999999")), ANY),
        "deep_arrays.pdf": (_bytes(pdf("x", extra={5: b"[" * 100_000 + b"]" * 100_000})), ANY),
        "pages_many.pdf": (_bytes(lambda size: pdf(*["Text."] * (size.thousand * 3))), READ),
    }


def _words() -> dict[str, tuple[Make, str]]:
    laughs = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 10))
    laugh = f'<!DOCTYPE x [<!ENTITY a0 "ha">{laughs}]>'.encode()
    stolen = b'<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'
    paragraph = b"<w:p><w:r><w:t>Text.</w:t></w:r></w:p>"
    cell = b"<w:tc><w:p><w:r><w:t>x</w:t></w:r></w:p></w:tc>"
    table = b"<w:tbl><w:tblPr/><w:tblGrid/>%b</w:tbl>"
    wide = b'<w:tr><w:tc><w:tcPr><w:gridSpan w:val="999999999"/></w:tcPr><w:p/></w:tc></w:tr>'

    def understated(path: Path, size: Size) -> None:
        """The archive says that its large part is small."""
        data = bytearray(word_body(paragraph, word__big_dot_xml=b" " * (30 * MB)))
        for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
            start = -1
            while (start := data.find(mark, start + 1)) >= 0:
                if int.from_bytes(data[start + place : start + place + 4], "little") == 30 * MB:
                    data[start + place : start + place + 4] = (1000).to_bytes(4, "little")
        path.write_bytes(data)

    def parts(path: Path, size: Size) -> None:
        with zipfile.ZipFile(path, "w") as archive:
            for number in range(11_000):
                archive.writestr(f"{number}.xml", b"")

    good = word_body(paragraph * 50)
    return {
        "empty.docx": (_bytes(b""), "empty"),
        "text.docx": (_bytes(b"This is no Word file."), "not a Word file"),
        "cut.docx": (_bytes(good[: len(good) // 2]), "damaged"),
        "flipped.docx": (_bytes(good[:300] + bytes(40) + good[340:]), "damaged"),
        "other_archive.docx": (_bytes(zipped(a=b"b")), "not a Word file"),
        "locked.docx": (_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)), "password"),
        "bomb.docx": (_bytes(lambda size: word_body(paragraph, media__a=bytes(size.megabytes * 10 * MB))), "zip bomb"),
        "bomb_xml.docx": (_bytes(word_body(b"<w:p/>" * 5_000_000)), "zip bomb"),
        "bomb_understated.docx": (understated, "damaged"),
        "parts.docx": (parts, "zip bomb"),
        "laughs.docx": (_bytes(word_body(b"<w:p><w:r><w:t>&a9;</w:t></w:r></w:p>", head=laugh)), "XML bomb"),
        "stolen.docx": (_bytes(word_body(b"<w:p><w:r><w:t>&e;</w:t></w:r></w:p>", head=stolen)), "XML bomb"),
        "deep.docx": (_bytes(word_body(b"<w:p>" * 100_000 + b"</w:p>" * 100_000)), "damaged"),
        "not_xml.docx": (_bytes(word_body(b"<w:p>")), "damaged"),
        "table_endless.docx": (
            _bytes(lambda size: word_body(table % ((b"<w:tr>" + cell * 10 + b"</w:tr>") * (size.thousand * 30)))),
            ANY,
        ),
        "spans.docx": (_bytes(word_body(table % (wide * 1000) + paragraph)), READ),
        "climbs_out.docx": (_bytes(word_body(paragraph, **{"..__..__evil_dot_txt": b"x"})), READ),
    }


def _tables() -> dict[str, tuple[Make, str]]:
    row = b"Velm Tower,1911,60 m\n"
    return {
        "cell_10_mb.csv": (_bytes(b"a,b\n1," + b"x" * (10 * MB) + b"\n2,y\n"), "cell holds more"),
        "cell_of_lines.csv": (_bytes(b'a,b\n1,"' + b"x\n" * MB + b'"\n2,y\n'), "cell holds more"),
        "endless_table.csv": (_bytes(lambda size: b"name,year,height\n" + row * (size.thousand * 1000)), READ),
        "endless_row.csv": (_bytes(b"x," * MB), READ),
        "quote_open.csv": (_bytes(b'a,b\n1,"' + b"x,y\n" * 500_000), "cell holds more"),
        "commas.csv": (_bytes(b",,,,\n" * 10_000), "empty"),
        "quotes.tsv": (_bytes(b'"' * 100_000), ANY),
        "ragged.csv": (_bytes(b"a,b\n1\n1,2,3,4,5\n,,\n6,7\n"), READ),
        "nul.csv": (_bytes(b"a,b\n1,\0\n"), "NUL"),
        "utf16.tsv": (_bytes("name\tcity\nAnn\tPlzeň\n".encode("utf-16")), READ),
        "late_encoding.csv": (_bytes(b"a,b\n" + b"1,2\n" * 400_000 + "é,ü\n".encode("cp1252")), ANY),
        "empty.csv": (_bytes(b"\n\n"), "empty"),
    }


def _records() -> dict[str, tuple[Make, str]]:
    def record(text: str) -> bytes:
        return json.dumps({"title": "T", "text": text}).encode() + b"\n"

    digits = b'{"title": "T", "text": "x", "n": ' + b"9" * MB + b"}"
    squad = {"data": [{"title": "A", "paragraphs": [{"context": None}, 5, {}]}, {"title": "B", "paragraphs": []}]}
    return {
        "deep.json": (_bytes(b"[" * 100_000), "too deeply"),
        "deep_objects.json": (_bytes(b'{"data":' * 100_000), "too deeply"),
        "digits.json": (_bytes(digits), "not JSON"),
        "surrogates.json": (_bytes(rb'{"title": "x", "text": "half \ud800"}'), READ),
        "numbers.json": (_bytes(b"[" + b"1," * 300_000 + b"1]"), "more records were left out"),
        "lists.json": (_bytes(lambda size: b"[" + b"[]," * (size.thousand * 20_000) + b"1]"), ANY),
        "squad_wrong.json": (_bytes(json.dumps(squad).encode()), 'no "text"'),
        "truncated.json": (_bytes(b'[{"title": "x", "text": "y"'), "not JSON"),
        "nothing.json": (_bytes(b"{}"), "neither a list"),
        "nan.json": (_bytes(b"NaN"), "not a JSON object"),
        "line_100_mb.jsonl": (_bytes(lambda size: record("ok") + b"x" * (size.megabytes * MB)), "longer than"),
        "lists.jsonl": (_bytes(record("ok") + b"[" + b"[]," * (5 * MB) + b"1]\n"), "lists and objects"),
        "bad_lines.jsonl": (_bytes(record("ok") + b"1\n" * 300_000), "more records were left out"),
        "cut.jsonl.gz": (_bytes(gzip.compress(record("x" * 9999) * 99)[:-20]), "damaged"),
        "not_packed.jsonl.gz": (_bytes(b"not gzip"), "damaged"),
        "bomb.jsonl.gz": (_bytes(lambda size: gzip.compress(record("ok") + bytes(size.megabytes * 3 * MB))), "longer"),
        "nothing.jsonl": (_bytes(b"\n\n"), "It is empty"),
    }


def files() -> list[Hostile]:
    """All of them. Names are unique."""
    groups = (_texts, _links, _pages, _pdfs, _words, _tables, _records)
    return [Hostile(name, make, reason) for group in groups for name, (make, reason) in group().items()]
