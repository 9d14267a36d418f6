"""Plain text and Markdown: the title from front matter, a heading, a first line that is a title, or the file name."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from iterative_rag.protocols import Skipped
from iterative_rag.sources import front_matter
from iterative_rag.sources.decoding import decode, encoding_of
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, shown
from iterative_rag.sources.metadata import metadata_of, scalars
from iterative_rag.types import Document

# A longer file is read in parts of at most MAX_CHARS characters, each a document of its own.
WHOLE_BYTES = 16 * 1024 * 1024
MAX_BYTES = 1 << 50

_HEADING = re.compile(r"^#[ \t]+(.{1,300}?)[ \t#]*$", re.MULTILINE)
# Fields of the front matter that have a place of their own, and names that led to a fetched page, which may grow.
_NO_METADATA = frozenset({"title", "url", "redirects"})
_TITLE_CHARS = 20_000  # in which a heading is looked for
# A short line that begins like a title, has no sentence end, and stands apart from what follows.
_FIRST_LINE = re.compile(r"\s*(?P<title>[^\n]{2,100}?)[ \t]*\n(?:[ \t]*\n|(?:={3,}|-{3,})[ \t]*\n)\s*(?P<next>[^\n]+)")
_NO_TITLE = re.compile(
    r"[^\w“\"'‘¿¡(]|\S+:\s|.*(?:[.!?:;,…|]$|://|@|\t|\s{3})"
    r"|(?:introduction|abstract|contents|table of contents|preface|foreword|summary|overview|notes|chapter|part|section"
    r"|dear|hi|hello|from|to|date|page|draft)\b",
    re.IGNORECASE,
)
_LOWER = re.compile(r"[“\"'‘(]?[a-zß-öø-ÿ]")
_MOST_WORDS = 12
_SENTENCE = re.compile(r"[.!?…。！？]")


class _NoLineEnd(Exception):
    """A text that cannot be divided."""


def read(path: Path) -> Reading:
    source = shown(path)
    if path.stat().st_size > WHOLE_BYTES:
        yield from _read_in_parts(path, source)
        return
    decoded = decode(path.read_bytes())
    if not isinstance(decoded, str):
        yield Skipped(source, decoded.reason)
        return
    document = _document(path, decoded)
    yield document or Skipped(source, "It is empty.", empty=True)


def title_of(path: Path) -> str:
    """The file's name as a title, on one line and without control characters."""
    stem = Path(shown(path)).stem.replace("_", " ")
    return " ".join("".join(letter if letter.isprintable() else " " for letter in stem).split()) or "untitled"


def _document(path: Path, decoded: str) -> Document | None:
    """The document of a file's text, or of its first part; None if it holds nothing."""
    fields, text = front_matter.split(decoded)
    if not text.strip():
        return None
    heading = _HEADING.search(text, 0, _TITLE_CHARS)
    title = front_matter.text_of(fields, "title") or (heading[1] if heading else "")
    if not title and path.suffix.lower() == ".txt":
        title = first_line_title(text)
    url = front_matter.text_of(fields, "url")
    url = url if url.startswith(("http://", "https://")) else ""
    said = ((key, value) for key, value in fields.items() if key not in _NO_METADATA)
    metadata = metadata_of(scalars(dict(said)))
    return Document("", title or title_of(path), text, shown(path), url or None, metadata=metadata)


def first_line_title(text: str) -> str:
    """The first line of a plain text if it clearly is a title, else "". It stays in the text."""
    match = _FIRST_LINE.match(text[:_TITLE_CHARS])
    if match is None:
        return ""
    title = " ".join(match["title"].split())
    if not title.isprintable():
        return ""
    is_prose = bool(_SENTENCE.search(match["next"])) or len(match["next"]) > len(title)
    if not is_prose or len(title.split()) > _MOST_WORDS or _NO_TITLE.match(title) or _LOWER.match(title):
        return ""
    return title if any(letter.isalpha() for letter in title) else ""


def _read_in_parts(path: Path, source: str) -> Reading:
    with path.open("rb") as file:
        encoding = encoding_of(file)
        if not isinstance(encoding, str):
            yield Skipped(source, encoding.reason)
            return
        first: Document | None = None
        number = 0
        try:
            for number, text in enumerate(_parts(io.TextIOWrapper(file, encoding=encoding)), 1):
                first = first or _document(path, text)
                if first is None or not text.strip():
                    continue
                held = first.text if number == 1 else text
                yield Document(
                    f"part {number}",
                    f"{first.title} (part {number})",
                    held,
                    f"{source}, part {number}",
                    first.url,
                    metadata=first.metadata,
                )
        except _NoLineEnd:
            limit = f"larger than {WHOLE_BYTES / 1e6:.0f} MB, and no line ends within {MAX_CHARS:,} characters"
            yield Skipped(source, f"It is {limit}: split it into smaller files.")
            return
        except UnicodeDecodeError:
            yield Skipped(source, f"It is not valid {encoding} after part {number}.")
        if not number:
            yield Skipped(source, "It is empty.", empty=True)


def _parts(file: TextIO) -> Iterator[str]:
    """Pieces of at most MAX_CHARS characters that end with a paragraph, else with a line. Raises _NoLineEnd."""
    rest = ""
    while block := file.read(MAX_CHARS - len(rest)):
        text = rest + block
        end = len(text) if len(text) < MAX_CHARS else _end_of_part(text)
        yield text[:end]
        rest = text[end:]
    if rest:
        yield rest


def _end_of_part(text: str) -> int:
    for sign, least in (("\n\n", len(text) // 2), ("\n", 0)):
        offset = text.rfind(sign, least)
        if offset >= 0:
            return offset + len(sign)
    raise _NoLineEnd


FORMAT = Format(read, MAX_BYTES, apart=False, whole_bytes=WHOLE_BYTES)
