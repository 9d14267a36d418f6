"""PDF by PDFium: the text of each page in reading order, with the values of forms, and where each page begins."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.pdf_characters import Run, runs_of
from iterative_rag.sources.formats.pdf_text import text_of
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

MAX_BYTES = 256 * 1024 * 1024
MAX_PAGES = 20_000
MAX_ANNOTATIONS = 2_000  # of a page
_NO_TEXT = "pages without text"
_NO_TITLE = re.compile(r"\W*|untitled.*|microsoft word.*|.*\.(?:docx?|pdf|tex|dvi|indd|rtf|odt|pptx?|xlsx?)", re.I)


def read(path: Path) -> Reading:
    import pypdfium2

    source = shown(path)
    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise CorpusError("It is locked with a password, not a PDF, or damaged.") from error
    kinds: Counter[str] = Counter()
    try:
        pages, fault = _pages(pdf, kinds)
        title = _title(pdf) or title_of(path)
    finally:
        pdf.close()
    text, starts = text_of(pages, kinds)
    if text.strip():
        yield Document("", title, text, source, None, starts, metadata=metadata_of(not_read(kinds)))
    elif pages and not fault:
        pictures = counted(len(pages), "page is a picture", "pages are pictures")
        yield Skipped(source, f"It holds no text: {pictures} (a scan needs OCR).")
    if fault or not pages:
        yield Skipped(source, fault or "It holds no pages.")


def _pages(pdf: PdfDocument, kinds: Counter[str]) -> tuple[list[list[Run]], str]:
    """The runs of each page, and what was left out and why ("" for nothing); counts kinds of what has no text."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    _open_forms(pdf, kinds)
    pages: list[list[Run]] = []
    broken: list[str] = []
    size = 0
    for number in range(1, len(pdf) + 1):
        if number > MAX_PAGES or size > MAX_CHARS:
            return pages, f"It is too long: only its first {number - 1:,} of {counted(len(pdf), 'page')} are read."
        runs: list[Run] = []
        try:
            page = pdf[number - 1]
            try:
                if _flatten(page, kinds):
                    page.close()
                    page = pdf[number - 1]
                runs = runs_of(page)
                kinds[_NO_TEXT] += not runs and pdfium.FPDFPage_CountObjects(page.raw) > 0
            finally:
                page.close()
        except pypdfium2.PdfiumError:
            broken.append(str(number))
        pages.append(runs)
        size += sum(len(run.text) + 1 for run in runs)
    if not broken:
        return pages, ""
    return pages, f"{len(broken)} of its {counted(len(pdf), 'page')} cannot be read ({', '.join(broken[:5])})."


def _open_forms(pdf: PdfDocument, kinds: Counter[str]) -> None:
    """Have PDFium draw the values of form fields; counts attached files and forms that it does not know."""
    import pypdfium2.raw as pdfium

    kinds["attached files"] = max(0, pdfium.FPDFDoc_GetAttachmentCount(pdf.raw))
    kind = pdfium.FPDF_GetFormType(pdf.raw)
    kinds["XFA forms"] = int(kind in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND))
    if kind != pdfium.FORMTYPE_NONE:
        pdf.init_forms()


def _flatten(page: PdfPage, kinds: Counter[str]) -> bool:
    """Make what form fields and annotations show a part of the page, which is then to be opened again; False where
    there are none. Comments show a sign only: they are counted."""
    import pypdfium2.raw as pdfium

    no_comments = (
        *(pdfium.FPDF_ANNOT_WIDGET, pdfium.FPDF_ANNOT_FREETEXT),  # are drawn
        *(pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP),
    )
    count = min(pdfium.FPDFPage_GetAnnotCount(page.raw), MAX_ANNOTATIONS)
    for index in range(count):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        comment = pdfium.FPDFAnnot_GetSubtype(annotation) not in no_comments
        kinds["comments"] += comment and pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", None, 0) > 2
        pdfium.FPDFPage_CloseAnnot(annotation)
    return bool(count and pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS)


def _title(pdf: PdfDocument) -> str:
    """The title in the file's metadata, unless it is a file name or a default of its program."""
    title = " ".join(plain(pdf.get_metadata_value("Title")).split())[:300]
    return "" if _NO_TITLE.fullmatch(title) else title


FORMAT = Format(read, MAX_BYTES, needs=("pypdfium2",))
