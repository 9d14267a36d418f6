"""Makes small files of each format, byte by byte where no library is at hand to write them."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path


def pdf(*pages: str | Sequence[str], info: str = "", extra: dict[int, bytes] | None = None, trailer: str = "") -> bytes:
    """A PDF with one line of text for each line of a page. `extra` replaces objects by number."""
    objects: dict[int, bytes] = {}
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects[1] = b"<< /Type /Catalog /Pages 2 0 R >>"
    objects[2] = f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode()
    objects[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    for number, page in enumerate(pages):
        lines = page.split("\n") if isinstance(page, str) else page
        shown = "".join(f"({_escaped(line)}) Tj T* " for line in lines)
        stream = f"BT /F1 11 Tf 14 TL 50 780 Td {shown}ET".encode("cp1252")
        place = 4 + 2 * number
        objects[place] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {place + 1} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
        objects[place + 1] = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream)
    last = max(objects) + 1
    objects[last] = f"<< /Title ({_escaped(info)}) >>".encode("cp1252")
    objects |= extra or {}
    return _assembled(objects, f"/Root 1 0 R /Info {last} 0 R {trailer}")


def placed_pdf(*pages: str, extra: dict[int, bytes] | None = None, page: str = "", root: str = "") -> bytes:
    """A PDF of lines `x y size text` a page, with `^{3}` raised, `_{2}` lowered; `page` and `root` add entries."""
    objects = dict(extra or {})
    for number, lines in enumerate(pages):
        placed = (line.split(" ", 3) for line in lines.strip().split("\n"))
        stream = "".join(f"BT /F1 {size} Tf {x} {y} Td {_shown(text, size)} ET\n" for x, y, size, text in placed)
        content = stream.encode("cp1252")
        objects[5 + 2 * number] = b"<< /Length %d >>\nstream\n%b\nendstream" % (len(content), content)
        objects[4 + 2 * number] = (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents {5 + 2 * number} 0 R {page} "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        ).encode()
    objects[1] = f"<< /Type /Catalog /Pages 2 0 R {root} >>".encode()
    return pdf(*[""] * len(pages), extra=objects)


def _shown(text: str, size: str) -> str:
    parts = re.split(r"(\^\{.*?\}|_\{.*?\})", text)
    for number, part in enumerate(parts):
        parts[number] = f"({_escaped(part)}) Tj"
        if number % 2:
            parts[number] = f"/F1 6 Tf {5 if part[0] == '^' else -2} Ts ({part[2:-1]}) Tj /F1 {size} Tf 0 Ts"
    return " ".join(parts)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _assembled(objects: dict[int, bytes], trailer: str) -> bytes:
    data = bytearray(b"%PDF-1.7\n")
    places = {}
    for number, body in sorted(objects.items()):
        places[number] = len(data)
        data += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(b"%010d 00000 n \n" % places[number] for number in sorted(objects))
    data += f"trailer\n<< /Size {len(objects) + 1} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
    return bytes(data)


def locked_pdf() -> bytes:
    """A PDF whose password is not the empty one."""
    secret = "ab" * 32
    locked = f"<< /Filter /Standard /V 1 /R 2 /O <{secret}> /U <{secret}> /P -4 >>".encode()
    return pdf("Nobody reads this.", extra={7: locked}, trailer=f"/Encrypt 7 0 R /ID [<{'00' * 16}> <{'00' * 16}>]")


def docx(path: Path) -> Path:
    """A Word file with a title, headings, a list, and a table with merged cells."""
    import docx

    word = docx.Document()
    word.add_heading("Karsa Bridge", 0)
    word.add_paragraph("The bridge crosses the Velm.")
    word.add_heading("History", 1)
    for entry in ("Begun in 1841", "Opened in 1843"):
        word.add_paragraph(entry, style="List Bullet")
    table = word.add_table(rows=4, cols=3)
    cells = ("Span", "Length", "Built", "West", "31 m", "1841", "East", "29 m", "1842", "All | both", "60 m", "")
    for place, text in enumerate(cells):
        table.cell(place // 3, place % 3).text = text
    table.cell(1, 2).merge(table.cell(2, 2))
    table.cell(3, 1).merge(table.cell(3, 2))
    word.add_paragraph("After the table.")
    word.save(str(path))
    return path


def zipped(**parts: bytes) -> bytes:
    """An archive; `__` in a name stands for a slash, `_dot_` for a dot."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), data)
    return buffer.getvalue()


_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_TYPES = b"""<?xml version="1.0"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>"""
_RELS = b"""<?xml version="1.0"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"
 Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
 Target="word/document.xml"/></Relationships>"""


def word_body(body: bytes, *, head: bytes = b"", **more: bytes) -> bytes:
    """The smallest Word file around this XML."""
    xml = b'<?xml version="1.0"?>%b<w:document xmlns:w="%b"><w:body>%b</w:body></w:document>'
    parts = {"[Content_Types]_dot_xml": _TYPES, "_rels__" + "_dot_rels": _RELS}
    return zipped(**parts, word__document_dot_xml=xml % (head, _WORD.encode(), body), **more)
