"""PDF by PDFium: the text of each page, and where each page begins in it."""

from __future__ import annotations

import mmap
import re
from pathlib import Path
from typing import TYPE_CHECKING

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MOST_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.text import title_of
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

MAX_BYTES = 256 * 1024 * 1024
MOST_PAGES = 20_000
# PDFium writes the hyphen of a word that goes on in the next line as one of these.
_HYPHEN = re.compile(r"[\x02\ufffe\xad]\n?")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\uffff]")
_SPACES = re.compile(r"[ \t\xa0]+(?=\n|$)")
_ENDS = tuple('.!?…:;"”’)]')
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
        text, starts, reason = _text(pdf)
        title = _title(pdf) or title_of(path)
    finally:
        pdf.close()
    if text.strip():
        yield Document("", title, text, source, None, tuple(starts))
    elif starts and not reason:
        yield Skipped(
            source,
            f"It holds no text: {counted(len(starts), 'page is a picture', 'pages are pictures')} (a scan needs OCR).",
        )
    if reason or not starts:
        yield Skipped(source, reason or "It holds no pages.")


def _text(pdf: PdfDocument) -> tuple[str, list[int], str]:
    """The text, the offsets at which its pages begin, and what was left out and why."""
    import pypdfium2

    parts: list[str] = []
    starts: list[int] = []
    size = 0
    broken: list[int] = []
    count = len(pdf)
    for number in range(1, count + 1):
        if number > MOST_PAGES or size > MOST_CHARS:
            return (
                "".join(parts),
                starts,
                f"It is too long: only its first {number - 1:,} of {counted(count, 'page')} are read.",
            )
        try:
            text = _page(pdf, number - 1)
        except pypdfium2.PdfiumError:
            broken.append(number)
            text = ""
        if text and parts:
            # A sentence that goes on overleaf stays one.
            joint = "\n\n" if parts[-1].endswith(_ENDS) else "\n"
            parts.append(joint)
            size += len(joint)
        starts.append(size)
        if text:
            parts.append(text)
            size += len(text)
    some = ", ".join(map(str, broken[:5])) + (", …" if len(broken) > 5 else "")
    return (
        "".join(parts),
        starts,
        f"{len(broken)} of its {counted(count, 'page')} cannot be read ({some})." if broken else "",
    )


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
    return _SPACES.sub("", _CONTROL.sub("", _HYPHEN.sub("", text))).strip()[:MOST_CHARS]


def _title(pdf: PdfDocument) -> str:
    """The title that the file gives itself, unless it is the name of another file, or none."""
    title = " ".join(plain(pdf.get_metadata_value("Title")).split())[:300]
    return "" if _NO_TITLE.fullmatch(title) else title


def _why(error: Exception, path: Path) -> str:
    said = str(error).lower()
    # PDFium leaves the error of the file before in place where it has none for this one.
    if "password" in said and _is_encrypted(path):
        return "It is locked with a password."
    if "security" in said and _is_encrypted(path):
        return "It is encrypted in a way that cannot be read."
    return "It is no PDF, or one that is damaged."


def _is_encrypted(path: Path) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return data.find(b"/Encrypt") >= 0


FORMAT = Format((".pdf",), MAX_BYTES, read, needs=("pypdfium2",))
