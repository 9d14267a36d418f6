"""EPUB books: the pages in reading order as Markdown, each a section, with what the book says of itself. A ZIP archive
of web pages and two small files of XML, so that the reader of web pages does nearly all of it."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from iterative_rag.errors import CorpusError, FetchError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.decoding import decode_html
from iterative_rag.sources.formats import html
from iterative_rag.sources.formats.format import MAX_CHARS, XML, Reading, archive_format, plain, title_of
from iterative_rag.sources.formats.office_xml import first, local, tree, within
from iterative_rag.sources.metadata import metadata_of, not_read
from iterative_rag.types import Document

MAX_XML_BYTES = 8 * 1024 * 1024
MAX_PAGE_BYTES = 16 * 1024 * 1024
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PICTURE = re.compile(r"<(?:img|svg|image)\b", re.IGNORECASE)
_HEADING = re.compile(r"^(#{1,5} )", re.MULTILINE)
_DESCRIBED = ("creator", "date", "language", "publisher", "subject")


def _book(archive: zipfile.ZipFile, path: Path, source: str) -> Reading:
    member = first(tree(archive, _CONTAINER), "rootfile").attrib["full-path"]
    if not member.lower().endswith(XML):
        raise CorpusError(f"Its package document {member!r} is not an .opf file.")
    package = tree(archive, member)
    pages = list(_pages(package, posixpath.dirname(member)))
    locked = archive.read(_ENCRYPTION).decode("utf-8", "replace") if _ENCRYPTION in archive.namelist() else ""
    if any(page in locked for page in pages):
        raise CorpusError("It is protected against copying (DRM).")
    said = [(local(element), " ".join(plain(element.text or "").split())) for element in package.iter()]
    title = next((text for name, text in said if name == "title" and text), "") or title_of(path)
    sections: list[str] = []
    kinds: Counter[str] = Counter()
    for page in pages:
        text = _section(archive, page, source, kinds)
        if isinstance(text, Skipped):
            yield text
        elif text and sum(map(len, sections)) + len(text) > MAX_CHARS:
            yield Skipped(source, f"It is too long: only its pages before {page!r} are read.")
            break
        elif text:
            sections.append(text)
    if not sections:
        raise CorpusError("It holds no text.")
    described = [(name, text) for name, text in said if name in _DESCRIBED]
    metadata = metadata_of([*described, *not_read(kinds)])
    yield Document("", title, "\n\n".join([f"# {title}", *sections]) + "\n", source, metadata=metadata)


def _pages(package: Any, folder: str) -> Iterator[str]:
    """The pages of the book within the archive: those in reading order; no table of contents."""
    items = {entry.get("id"): entry for entry in within(package, "item")}
    order = dict.fromkeys(entry.get("idref") for entry in within(package, "itemref"))
    for item in (items[key] for key in order if key in items):
        if "nav" not in item.get("properties", "").split() and (href := item.get("href")):
            yield posixpath.normpath(posixpath.join(folder, unquote(href)))


def _section(archive: zipfile.ZipFile, page: str, source: str, kinds: Counter[str]) -> str | Skipped:
    """A page as a section, "" where it holds no text (a cover, which is counted as a picture)."""
    try:
        size = archive.getinfo(page).file_size
        if size > MAX_PAGE_BYTES:
            return Skipped(source, f"Its page {page!r} is larger than {MAX_PAGE_BYTES / 1e6:.0f} MB.")
        content = decode_html(archive.read(page))
        read = html.page(content, source, "")
    except KeyError:
        return Skipped(source, f"Its page {page!r} is missing.")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        return Skipped(source, f"Its page {page!r} is damaged ({type(error).__name__}).")
    except html.NoText:
        kinds["pages without text"] += bool(_PICTURE.search(content))
        return ""
    except FetchError as error:
        return Skipped(source, f"Its page {page!r}: {error}")
    heading, _, text = read.text.partition("\n")
    text = text.strip()
    if text.startswith("# "):  # what the page shows, and not what it is called
        heading, _, text = text.partition("\n")
    heading, text = heading.lstrip("# ").strip(), _HEADING.sub(r"#\1", text.strip())
    return f"## {heading}\n\n{text}" if heading else text


FORMAT = archive_format("an EPUB book", "", MAX_XML_BYTES, _book)
