"""Plain text and Markdown: the title from front matter, from the first heading, or from the file name."""

from __future__ import annotations

import re
from pathlib import Path

from iterative_rag.protocols import Skipped
from iterative_rag.sources import front_matter
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import Format, Reading, shown
from iterative_rag.types import Document

MAX_BYTES = 16 * 1024 * 1024

_HEADING = re.compile(r"^#[ \t]+(.{1,300}?)[ \t#]*$", re.MULTILINE)
_TITLE_CHARS = 20_000  # in which a heading is looked for


def read(path: Path) -> Reading:
    source = shown(path)
    decoded = decode(path.read_bytes())
    if not isinstance(decoded, str):
        yield Skipped(source, decoded.reason)
        return
    fields, text = front_matter.split(decoded)
    if not text.strip():
        yield Skipped(source, "It is empty.", empty=True)
        return
    heading = _HEADING.search(text, 0, _TITLE_CHARS)
    title = front_matter.text_of(fields, "title") or (heading[1] if heading else title_of(path))
    url = front_matter.text_of(fields, "url")
    url = url if url.startswith(("http://", "https://")) else ""
    yield Document("", title, text, source, url or None)


def title_of(path: Path) -> str:
    """The file's name as a title, on one line and without control characters."""
    stem = Path(shown(path)).stem.replace("_", " ")
    return " ".join("".join(letter if letter.isprintable() else " " for letter in stem).split()) or "untitled"


FORMAT = Format(read, MAX_BYTES, apart=False)
