"""PDF by PDFium: the text of each page in reading order, with the values of forms, and where each page begins."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Format, Reading, plain, shown, title_of
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

MAX_BYTES = 256 * 1024 * 1024
# Titles that are file names, or defaults of programs.
_NO_TITLE = re.compile(r"\W*|untitled.*|microsoft word.*|.*\.(?:docx?|pdf|tex|dvi|indd|rtf|odt|pptx?|xlsx?)", re.I)


def read(path: Path) -> Reading:
    import pypdfium2

    from iterative_rag.sources.formats.pdf_characters import pages_of
    from iterative_rag.sources.formats.pdf_text import text_of

    source = shown(path)
    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise CorpusError("It is locked with a password, not a PDF, or damaged.") from error
    kinds: Counter[str] = Counter()
    try:
        pages, fault = pages_of(pdf, kinds)
        stated = " ".join(plain(pdf.get_metadata_value("Title")).split())[:300]
        title = title_of(path) if _NO_TITLE.fullmatch(stated) else stated
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


FORMAT = Format(read, MAX_BYTES, needs=("pypdfium2",))
