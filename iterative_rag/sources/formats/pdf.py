"""PDF by PDFium: the text of each page, and where each page begins in it."""

from __future__ import annotations

import mmap
import re
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_BYTES = 256 * 1024 * 1024
MAX_PAGES = 20_000
# PDFium writes one of these for the hyphen of a word that is broken at the end of a line.
_HYPHEN = re.compile(r"[\x02\ufffe\xad]\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\uffff]")
_SPACES = re.compile(r"[ \t\xa0]+(?=\n|$)")
_SENTENCE_ENDS = tuple('.!?…:;"”’)]')
_NO_TITLE = re.compile(r"\W*|untitled.*|microsoft word.*|.*\.(?:docx?|pdf|tex|dvi|indd|rtf|odt|pptx?|xlsx?)", re.I)


def read(path: Path) -> Reading:
    import pypdfium2

    source = shown(path)
    try:
        pdf = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        yield Skipped(source, _why(error, path))
        return
    try:
        text, starts, fault = _text(pdf)
        title = _title(pdf) or title_of(path)
    finally:
        pdf.close()
    if text.strip():
        yield Document("", title, text, source, None, tuple(starts))
    elif starts and not fault:
        pictures = counted(len(starts), "page is a picture", "pages are pictures")
        yield Skipped(source, f"It holds no text: {pictures} (a scan needs OCR).")
    if fault or not starts:
        yield Skipped(source, fault or "It holds no pages.")


def _text(pdf: PdfDocument) -> tuple[str, list[int], str]:
    """The text, the offsets at which its pages begin, and what was left out and why ("" for nothing)."""
    import pypdfium2

    parts: list[str] = []
    starts: list[int] = []
    broken: list[str] = []
    fault = last = ""
    size = 0
    for number in range(1, len(pdf) + 1):
        if number > MAX_PAGES or size > MAX_CHARS:
            fault = f"It is too long: only its first {number - 1:,} of {counted(len(pdf), 'page')} are read."
            break
        try:
            page = _page(pdf, number - 1)
        except pypdfium2.PdfiumError:
            broken.append(str(number))
            page = ""
        # A sentence that continues on the next page stays one.
        joint = ("\n\n" if last.endswith(_SENTENCE_ENDS) else "\n") if page and last else ""
        starts.append(size + len(joint))
        parts += [joint, page]
        size += len(joint) + len(page)
        last = page or last
    if broken and not fault:
        numbers = ", ".join(broken[:5]) + (", …" if len(broken) > 5 else "")
        fault = f"{len(broken)} of its {counted(len(pdf), 'page')} cannot be read ({numbers})."
    return "".join(parts), starts, fault


def _page(pdf: PdfDocument, index: int) -> str:
    page = pdf[index]
    try:
        content = page.get_textpage()
        try:
            text = plain(content.get_text_range())
        finally:
            content.close()
    finally:
        page.close()
    return _SPACES.sub("", _CONTROL.sub("", _HYPHEN.sub("", text))).strip()[:MAX_CHARS]


def _title(pdf: PdfDocument) -> str:
    """The title in the file's metadata, unless it is a file name or a default of its program."""
    title = " ".join(plain(pdf.get_metadata_value("Title")).split())[:300]
    return "" if _NO_TITLE.fullmatch(title) else title


def _why(error: Exception, path: Path) -> str:
    message = str(error).lower()
    # PDFium may still report the error of the previous file.
    if "password" in message and _is_encrypted(path):
        return "It is locked with a password."
    if "security" in message and _is_encrypted(path):
        return "It is encrypted in a way that cannot be read."
    return "It is not a PDF, or damaged."


def _is_encrypted(path: Path) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"/Encrypt") >= 0


FORMAT = Format(read, MAX_BYTES, needs=("pypdfium2",))
