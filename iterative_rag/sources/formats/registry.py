"""The formats that can be read, by suffix. A new one is a file beside this one and a name in the list."""

from __future__ import annotations

from iterative_rag.sources.formats import csv_file, docx, html, json_file, lines, pdf, text
from iterative_rag.sources.formats.format import Format

FORMATS = (text.FORMAT, html.FORMAT, pdf.FORMAT, docx.FORMAT, csv_file.FORMAT, json_file.FORMAT, lines.FORMAT)
SUFFIXES = tuple(suffix for one in FORMATS for suffix in one.suffixes)
_BY_SUFFIX = {suffix: one for one in FORMATS for suffix in one.suffixes}


def format_of(name: str) -> Format | None:
    """The format of a file by its name; None for files that are not read, and for hidden ones."""
    if name.startswith("."):
        return None
    return next((one for suffix, one in _BY_SUFFIX.items() if name.lower().endswith(suffix)), None)


def formats_in_words() -> str:
    return f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
