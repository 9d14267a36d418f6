"""Word files by python-docx: headings, paragraphs, lists and tables as Markdown, in the order of the document."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats import markdown_table
from iterative_rag.sources.formats.format import MOST_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.types import Document

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MAX_BYTES = 96 * 1024 * 1024
# Unpacked: all parts (pictures among them), those that are parsed, and how many there may be.
MOST_BYTES = MAX_BYTES
MOST_XML_BYTES = 16 * 1024 * 1024
MOST_PARTS = 10_000
_BLOCK = 1 << 18
_LOCKED = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # an OLE container: an encrypted .docx, or an old .doc
_DEFAULT_TITLE = "Word Document"  # what python-docx says of files that say nothing
_SPAN = 64  # columns that a cell may span


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
        # What python-docx and lxml raise for parts that are missing or not what they should be.
        yield Skipped(source, f"It is no Word file, or one that is damaged ({type(error).__name__}).")
        return
    text = "\n\n".join(blocks)
    if not text.strip():
        yield Skipped(source, "It holds no text.")
        return
    said = " ".join(plain(word.core_properties.title or "").split())[:300]
    said = "" if said == _DEFAULT_TITLE else said
    heading = next((block.lstrip("# ") for block in blocks[:5] if block.startswith(("# ", "## "))), "")
    yield Document("", heading or said or title_of(path), text, source)
    if not whole:
        yield Skipped(source, f"It is too long: only its first {len(text):,} characters are read.")


def _fault(path: Path) -> str | None:
    """Why the archive is not to be opened: the sizes that it declares, and those that come out of it, are counted."""
    try:
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if len(parts) > MOST_PARTS:
                return f"It is a zip bomb: it holds {len(parts):,} parts."
            if any(part.flag_bits & 1 for part in parts):
                return "It is locked with a password."
            # Declared sizes cost nothing to look at; so a bomb that owns up to it is never touched.
            if fault := _too_large(
                sum(part.file_size for part in parts), sum(part.file_size for part in parts if _is_xml(part))
            ):
                return fault
            return _counted(archive, parts)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, EOFError, NotImplementedError, ValueError) as error:
        with path.open("rb") as file:
            if file.read(len(_LOCKED)) == _LOCKED:
                return "It is locked with a password, or an old .doc file."
        return f"It is no Word file, or one that is damaged ({type(error).__name__})."
    except (zlib.error, lzma.LZMAError):
        return "Its archive is damaged."


def _counted(archive: zipfile.ZipFile, parts: list[zipfile.ZipInfo]) -> str | None:
    """Unpack every part into nothing, block by block."""
    whole = xml = 0
    for part in parts:
        tail = b""
        with archive.open(part) as file:
            while block := file.read(_BLOCK):
                whole += len(block)
                xml += len(block) if _is_xml(part) else 0
                if fault := _too_large(whole, xml):
                    return fault
                # No Word file defines entities; those that do let few bytes stand for gigabytes.
                if _is_xml(part) and (b"<!DOCTYPE" in tail + block or b"<!ENTITY" in tail + block):
                    return "Its XML defines entities, which no Word file does: it is an XML bomb."
                tail = block[-16:]
    return None


def _too_large(whole: int, xml: int) -> str | None:
    if whole > MOST_BYTES:
        return f"Unpacked it is larger than the limit of {MOST_BYTES / 1e6:.0f} MB (a zip bomb, or many pictures)."
    if xml > MOST_XML_BYTES:
        return f"Its text is larger than the limit of {MOST_XML_BYTES / 1e6:.0f} MB when unpacked (a zip bomb?)."
    return None


def _is_xml(part: zipfile.ZipInfo) -> bool:
    return part.filename.lower().endswith((".xml", ".rels"))


def _blocks(word: WordDocument) -> tuple[list[str], bool]:
    """Paragraphs and tables, and whether that is all of them."""
    from docx.table import Table

    # `Paragraph.style` of python-docx looks through all styles each time.
    styles = {style.style_id: style.name or "" for style in word.styles}
    blocks: list[str] = []
    size = 0
    in_list = False
    for item in word.iter_inner_content():
        block, entry = (_table(item), False) if isinstance(item, Table) else _paragraph(item, styles)
        if not block:
            continue
        if entry and in_list:
            blocks[-1] += f"\n{block}"
        else:
            blocks.append(block)
        in_list = entry
        size += len(block)
        if size > MOST_CHARS:
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
    properties: Any = paragraph._p.pPr  # python-docx has no other way to tell a numbered paragraph
    if style.startswith("List") or (properties is not None and properties.numPr is not None):
        return f"- {' '.join(text.split())}", True
    return text, False


def _table(table: Table) -> str:
    """The table with merged cells filled in; its first row is the header."""
    rows = [row for row in _rows(table) if any(row)]
    if not rows:
        return ""
    columns = max(map(len, rows))
    head, *rest = [markdown_table.line(row) for row in rows]
    return "\n".join([head, markdown_table.rule(columns), *rest])


def _rows(table: Table) -> Iterator[list[str]]:
    above: list[str] = []
    for row in table._tbl.tr_lst:  # `Row.cells` of python-docx takes time that grows with the square of the table
        cells: list[str] = []
        for cell in row.tc_lst:
            goes_on = cell.vMerge == "continue"
            text = above[len(cells)] if goes_on and len(cells) < len(above) else _text(cell)
            cells += [text] * max(1, min(cell.grid_span, _SPAN))
        yield cells
        above = cells


def _text(cell: Any) -> str:
    """All text inside a cell; a table within it gives its words."""
    from docx.oxml.ns import qn

    lines = ("".join(run.text or "" for run in one.iter(qn("w:t"))) for one in cell.iter(qn("w:p")))
    return plain("; ".join(filter(None, (line.strip() for line in lines))))


FORMAT = Format((".docx",), MAX_BYTES, read, needs=("docx",))
