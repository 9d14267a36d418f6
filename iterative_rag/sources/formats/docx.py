"""Word files by python-docx: headings, paragraphs, lists and tables as Markdown, in the order of the document."""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources import markdown_table
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.types import Document

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MAX_BYTES = 96 * 1024 * 1024
# Unpacked: all parts (pictures among them), those that are parsed, and how many there may be.
MAX_UNPACKED_BYTES = MAX_BYTES
MAX_XML_BYTES = 16 * 1024 * 1024
MAX_PARTS = 10_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the begin of an encrypted .docx, or an old .doc
_DECLARATION = re.compile(rb"<!(?:DOCTYPE|ENTITY)")
_DEFAULT_TITLE = "Word Document"  # what python-docx gives for files without a title
_MAX_SPAN = 64  # columns of one cell


def read(path: Path) -> Reading:
    source = shown(path)
    if fault := _fault(path):
        yield Skipped(source, fault)
        return
    try:
        from docx import Document as open_docx

        word = open_docx(str(path))
        blocks, whole = _blocks(word)
    except (KeyError, ValueError, AttributeError, SyntaxError, zipfile.BadZipFile) as error:
        # What python-docx and lxml raise for parts that are missing or malformed.
        yield Skipped(source, f"It is not a Word file, or damaged ({type(error).__name__}).")
        return
    text = "\n\n".join(blocks)
    if not text.strip():
        yield Skipped(source, "It holds no text.")
        return
    title = " ".join(plain(word.core_properties.title or "").split())[:300]
    title = "" if title == _DEFAULT_TITLE else title
    heading = next((block.lstrip("# ") for block in blocks[:5] if block.startswith(("# ", "## "))), "")
    yield Document("", heading or title or title_of(path), text, source)
    if not whole:
        yield Skipped(source, f"It is too long: only its first {len(text):,} characters are read.")


def _fault(path: Path) -> str | None:
    """Why the archive is not opened. The sizes that it declares hold: zipfile reads no byte beyond them."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            xml = [part for part in parts if part.filename.lower().endswith((".xml", ".rels"))]
            if len(parts) > MAX_PARTS:
                return f"It is a zip bomb: it holds {len(parts):,} parts."
            if any(part.flag_bits & 1 for part in parts):
                return "It is locked with a password."
            if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
                limit = f"{MAX_UNPACKED_BYTES / 1e6:.0f} MB"
                return f"Unpacked it is larger than the limit of {limit} (a zip bomb, or many pictures)."
            if sum(part.file_size for part in xml) > MAX_XML_BYTES:
                limit = f"{MAX_XML_BYTES / 1e6:.0f} MB"
                return f"Its text is larger than the limit of {limit} when unpacked (a zip bomb?)."
            # No Word file defines entities: a few bytes of them can stand for gigabytes.
            if any(_DECLARATION.search(archive.read(part)) for part in xml):
                return "Its XML defines entities, which no Word file does: it is an XML bomb."
            return None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, ValueError) as error:
        with path.open("rb") as file:
            if file.read(len(_OLE)) == _OLE:
                return "It is locked with a password, or an old .doc file."
        return f"It is not a Word file, or damaged ({type(error).__name__})."
    except (zlib.error, lzma.LZMAError):
        return "Its archive is damaged."


def _blocks(word: WordDocument) -> tuple[list[str], bool]:
    """Paragraphs and tables as Markdown, and whether that is all of them."""
    from docx.table import Table

    # `Paragraph.style` of python-docx searches all styles each time.
    styles = {style.style_id: style.name or "" for style in word.styles}
    blocks: list[str] = []
    size = 0
    in_list = False
    for item in word.iter_inner_content():
        block, is_entry = (_table(item), False) if isinstance(item, Table) else _paragraph(item, styles)
        if not block:
            continue
        if is_entry and in_list:
            blocks[-1] += f"\n{block}"
        else:
            blocks.append(block)
        in_list = is_entry
        size += len(block)
        if size > MAX_CHARS:
            return blocks, False
    return blocks, True


def _paragraph(paragraph: Paragraph, styles: Mapping[str, str]) -> tuple[str, bool]:
    """A paragraph as Markdown, and whether it is an entry of a list."""
    text = plain(paragraph.text).strip()
    if not text:
        return "", False
    style = styles.get(paragraph._p.style or "", "")
    if style == "Title":
        return f"# {' '.join(text.split())}", False
    if style.startswith("Heading ") and style[8:].isdigit():
        return f"{'#' * min(int(style[8:]) + 1, 6)} {' '.join(text.split())}", False  # "#" is the title's
    properties: Any = paragraph._p.pPr  # python-docx has no public way to tell a numbered paragraph
    if style.startswith("List") or (properties is not None and properties.numPr is not None):
        return f"- {' '.join(text.split())}", True
    return text, False


def _table(table: Table) -> str:
    """The table with merged cells filled in; its first row is the header."""
    rows = [row for row in _rows(table) if any(row)]
    if not rows:
        return ""
    columns = max(map(len, rows))
    head, *rest = map(markdown_table.line, rows)
    return "\n".join([head, markdown_table.rule(columns), *rest])


def _rows(table: Table) -> Iterator[list[str]]:
    above: list[str] = []
    for row in table._tbl.tr_lst:  # `Row.cells` of python-docx takes quadratic time
        cells: list[str] = []
        for cell in row.tc_lst:
            merged = cell.vMerge == "continue" and len(cells) < len(above)
            text = above[len(cells)] if merged else _text(cell)
            cells += [text] * max(1, min(cell.grid_span, _MAX_SPAN))
        yield cells
        above = cells


def _text(cell: Any) -> str:
    """All text inside a cell, that of tables within it too."""
    from docx.oxml.ns import qn

    lines = ("".join(run.text or "" for run in one.iter(qn("w:t"))) for one in cell.iter(qn("w:p")))
    return plain("; ".join(filter(None, (line.strip() for line in lines))))


FORMAT = Format(read, MAX_BYTES, needs=("docx",))
