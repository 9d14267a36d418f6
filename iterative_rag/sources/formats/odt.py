"""OpenDocument texts (.odt): text, lists and tables as Markdown, with what the document says of itself.

A ZIP archive of XML, which the standard library parses: entities and default values are refused before.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, fromstring

from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import MAX_CHARS, Format, Reading, plain, shown
from iterative_rag.sources.formats.odt_blocks import blocks_of
from iterative_rag.sources.formats.text import title_of
from iterative_rag.sources.formats.xml_names import local_name
from iterative_rag.sources.formats.zip_fault import MAX_BYTES, zip_fault
from iterative_rag.sources.metadata import metadata_of
from iterative_rag.types import Document

MAX_XML_BYTES = 16 * 1024 * 1024
_KIND = "an OpenDocument text"
_TYPE = "application/vnd.oasis.opendocument.text"
_MANIFEST, _META = "META-INF/manifest.xml", "meta.xml"
_KEPT = ("language", "subject", "keyword", "description")


def read(path: Path) -> Reading:
    source = shown(path)
    if fault := zip_fault(path, _KIND, "", MAX_XML_BYTES):
        yield Skipped(source, fault)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            yield from _document(archive, path, source)
    except (KeyError, ValueError, SyntaxError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        # What is raised for parts that are missing, malformed or damaged.
        yield Skipped(source, f"It is not {_KIND}, or damaged ({type(error).__name__}).")
    except RecursionError:
        yield Skipped(source, "Its parts are nested too deeply to be read.")


def _document(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    with archive.open("mimetype") as file:
        kind = file.read(100).decode("ascii", "replace").strip()
    if kind != _TYPE:
        yield Skipped(source, f"It is not {_KIND}: its type is {plain(kind)!r}.")
        return
    parts = archive.namelist()
    if _MANIFEST in parts and b"encryption-data" in archive.read(_MANIFEST):
        yield Skipped(source, "It is locked with a password.")
        return
    blocks, whole = _within_limit(blocks_of(fromstring(archive.read("content.xml"))))
    if not blocks:
        yield Skipped(source, "It holds no text.")
        return
    text = "\n\n".join(blocks)
    said = list(_said(fromstring(archive.read(_META)))) if _META in parts else []
    heading = next((block.lstrip("# ") for block in blocks[:5] if block.startswith(("# ", "## "))), "")
    title = heading or dict(said).get("title") or title_of(path)
    metadata = metadata_of((key, value) for key, value in said if key != "title")
    yield Document("", title, text, source, metadata=metadata)
    if not whole:
        yield Skipped(source, f"It is too long: only its first {len(text):,} characters are read.")


def _within_limit(blocks: Iterator[str]) -> tuple[list[str], bool]:
    """The blocks up to the limit of a document, and whether that is all of them."""
    taken: list[str] = []
    size = 0
    for block in blocks:
        taken.append(block)
        size += len(block)
        if size > MAX_CHARS:
            return taken, False
    return taken, True


def _said(meta: Element) -> Iterator[tuple[str, str]]:
    """What the document says of itself: title, author, the days of its last change and its making, and more."""
    told: dict[str, str] = {}
    for one in meta.iter():
        name, value = local_name(one), " ".join(plain(one.text or "").split())
        told.setdefault(name, value)
        if name in _KEPT:
            yield name, value
    yield "title", told.get("title", "")
    yield "author", told.get("initial-creator") or told.get("creator", "")
    made = told.get("creation-date", "")[:10]
    yield "date", told.get("date", "")[:10] or made
    yield "created", made


FORMAT = Format(read, MAX_BYTES)
