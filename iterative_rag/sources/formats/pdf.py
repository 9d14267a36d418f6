"""PDF by PDFium: the text of each page in reading order, with the values of forms, and where each page begins."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
_HIDDEN, _PASSWORD = 1 << 1, 1 << 13  # flags of an annotation and of a field


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

    form = _form(pdf, kinds)
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
                runs = _annotated(page, runs_of(page), form)
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


def _form(pdf: PdfDocument, kinds: Counter[str]) -> Any:
    """What PDFium reads the values of form fields with; None where there are none."""
    import pypdfium2.raw as pdfium

    kinds["attached files"] = max(0, pdfium.FPDFDoc_GetAttachmentCount(pdf.raw))
    kind = pdfium.FPDF_GetFormType(pdf.raw)
    kinds["XFA forms"] = int(kind in (pdfium.FORMTYPE_XFA_FULL, pdfium.FORMTYPE_XFA_FOREGROUND))
    if kind != pdfium.FORMTYPE_NONE:
        pdf.init_forms()
    return pdf.formenv.raw if pdf.formenv else None


def _annotated(page: PdfPage, runs: list[Run], form: Any) -> list[Run]:
    """The runs with the values of form fields where they stand, and with comments at the end."""
    import pypdfium2.raw as pdfium

    silent = (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP, pdfium.FPDF_ANNOT_WIDGET)
    comments: list[Run] = []
    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page.raw), MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if not annotation or pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN:
            continue
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET and form and (value := _value(annotation, form)):
            box = pdfium.FS_RECTF()
            pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(box))
            middle = max((box.top + box.bottom) / 2, box.top - 12)  # of its first line
            runs.append(Run(middle - 4, 12, box.left, box.right, value))
        elif kind not in silent and (said := _string(pdfium.FPDFAnnot_GetStringValue, annotation, b"Contents")):
            comments.append(Run(0, 0, 0, 0, f"Comment: {said}", turned=True))
        pdfium.FPDFPage_CloseAnnot(annotation)
    return runs + comments


def _value(field: Any, form: Any) -> str:
    """What a form field holds: its text, the options chosen, or whether it is ticked."""
    import pypdfium2.raw as pdfium

    kind = pdfium.FPDFAnnot_GetFormFieldType(form, field)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if pdfium.FPDFAnnot_IsChecked(form, field) else "[ ]"
    if kind in (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        options = range(min(pdfium.FPDFAnnot_GetOptionCount(form, field), MAX_ANNOTATIONS))
        chosen = [at for at in options if pdfium.FPDFAnnot_IsOptionSelected(form, field, at)]
        if chosen:
            return ", ".join(_string(pdfium.FPDFAnnot_GetOptionLabel, form, field, at) for at in chosen)
    elif kind != pdfium.FPDF_FORMFIELD_TEXTFIELD or pdfium.FPDFAnnot_GetFormFieldFlags(form, field) & _PASSWORD:
        return ""
    return _string(pdfium.FPDFAnnot_GetFormFieldValue, form, field)


def _string(function: Any, *arguments: Any) -> str:
    """What a function of PDFium writes as UTF-16, on one line."""
    import pypdfium2.raw as pdfium

    size = function(*arguments, None, 0)
    if not 2 < size <= 2 * MAX_CHARS:
        return ""
    buffer = ctypes.create_string_buffer(size)
    function(*arguments, ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), size)
    return " ".join(plain(buffer.raw[: size - 2].decode("utf-16-le", "replace")).split())


def _title(pdf: PdfDocument) -> str:
    """The title in the file's metadata, unless it is a file name or a default of its program."""
    title = " ".join(plain(pdf.get_metadata_value("Title")).split())[:300]
    return "" if _NO_TITLE.fullmatch(title) else title


FORMAT = Format(read, MAX_BYTES, needs=("pypdfium2",))
