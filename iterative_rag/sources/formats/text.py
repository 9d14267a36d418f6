"""Plain text and Markdown: the title from front matter, a heading, or the file name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from iterative_rag.protocols import Skipped
from iterative_rag.sources import front_matter
from iterative_rag.sources.decoding import decode
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, shown, title_of
from iterative_rag.sources.metadata import metadata_of, scalars
from iterative_rag.types import Document

MAX_BYTES = 256 * 1024 * 1024

_HEADING = re.compile(r"^#[ \t]+(\S.{0,299}?)[ \t#]*$", re.MULTILINE)
# Fields of the front matter that have a place of their own, and names that led to a fetched page, which may grow.
_NO_METADATA = frozenset({"title", "url", "redirects"})
_TITLE_CHARS = 20_000  # in which a heading is looked for


def read(path: Path) -> Reading:
    source = shown(path)
    decoded = decode(path.read_bytes())
    first: Document | None = None
    for number, part in enumerate(_parts(decoded), 1):
        first = first or _document(path, part)
        if first is not None and len(part) == len(decoded):
            yield first
        elif first is not None:
            text, title = first.text if number == 1 else part, f"{first.title} (part {number})"
            yield replace(first, id=f"part {number}", title=title, text=text, source=f"{source}, part {number}")
    if first is None:
        yield Skipped(source, "It is empty.", empty=True)


def titled(text: str) -> tuple[front_matter.Fields, str, str]:
    """The front matter of a text; its title, there or in a heading ("" for none); and the text that follows."""
    fields, text = front_matter.split(text)
    heading = _HEADING.search(text, 0, _TITLE_CHARS)
    return fields, front_matter.text_of(fields, "title") or (heading[1] if heading else ""), text


def _document(path: Path, decoded: str) -> Document | None:
    """The document of a file's text, or of its first part; None if it holds nothing."""
    fields, title, text = titled(decoded)
    if not text.strip():
        return None
    url = front_matter.text_of(fields, "url")
    url = url if url.startswith(("http://", "https://")) else ""
    said = ((key, value) for key, value in fields.items() if key not in _NO_METADATA)
    metadata = metadata_of(scalars(dict(said)))
    return Document("", title or title_of(path), text, shown(path), url or None, metadata=metadata)


def _parts(text: str) -> Iterator[str]:
    """Pieces of at most MAX_CHARS characters that end with a paragraph, else with a line where one ends."""
    start = 0
    while len(text) - start > MAX_CHARS:
        end = text.rfind("\n\n", start + MAX_CHARS // 2, start + MAX_CHARS) + 2
        if end < start + 2:
            end = text.rfind("\n", start, start + MAX_CHARS) + 1 or start + MAX_CHARS
        yield text[start:end]
        start = end
    yield text[start:]


FORMAT = Format(read, MAX_BYTES, apart=False)
