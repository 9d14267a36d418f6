"""Word files by python-docx: headings, paragraphs, lists and tables as Markdown, in the order of the document."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iterative_rag.protocols import Skipped
from iterative_rag.sources import markdown_table
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, zip_fault
from iterative_rag.types import Document

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.table import Table
    from docx.text.paragraph import Paragraph

MAX_XML_BYTES = 16 * 1024 * 1024
_DEFAULT_TITLE = "Word Document"  # what python-docx gives for files without a title
_MAX_SPAN = 64  # columns of one cell


def read(path: Path) -> Reading:
    source = shown(path)
    if fault := zip_fault(path, "a Word file", ".doc", MAX_XML_BYTES):
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
