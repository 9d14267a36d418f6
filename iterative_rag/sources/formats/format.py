"""A file format: a reader that yields documents or what it skipped, and the limits under which it is run."""

from __future__ import annotations

import bz2
import gzip
import importlib.util
import lzma
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from iterative_rag.errors import CorpusError, IterativeRAGError, MissingExtra
from iterative_rag.protocols import DocumentSource, Skipped
from iterative_rag.registry import FORMATS
from iterative_rag.system.files import readable
from iterative_rag.text.plurals import counted
from iterative_rag.types import Document
from iterative_rag.types.documents import as_field

EXTRA = "files"
# Of one document: a longer text is split into several documents, or the rest is skipped with a reason.
MAX_CHARS = 8_000_000
# Faults of one file that are reported one by one: a million bad records must not make a report of a million lines.
MAX_SKIPPED = 100
MAX_PAGES_SKIPPED = 1000  # of an encyclopedia

# Of the description of a picture; fewer name an icon.
ALT_WORDS = 3

Reading = Iterator[Document | Skipped]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Format:
    """How files of some suffixes are read; `registry.FORMATS` says of which.

    `read` yields documents whose ids are unique within the file ("" for the only one). It may raise OSError, or a
    CorpusError that says why the rest is not read.
    `apart`: read in a child process, because the parser can crash, hang or exhaust the memory.
    `needs` are modules of the extra `files`; `many`: one file may hold many documents.
    `source` opens a file that is given by itself, where its documents do not belong to a folder.
    """

    read: Callable[[Path], Reading]
    max_bytes: int = 64 * 1024 * 1024
    apart: bool = True
    needs: tuple[str, ...] = ()
    many: bool = False
    source: Callable[[Path], DocumentSource] | None = None

    def missing(self, source: str) -> Skipped | None:
        """Why a file of this format cannot be read here; None if it can."""
        error = MissingExtra(EXTRA)
        lacking = Skipped(source, f"{error} Type: {error.hint}", extra=EXTRA)
        return None if all(importlib.util.find_spec(module) for module in self.needs) else lacking


@dataclass(frozen=True, slots=True)
class Encyclopedia:
    """A file of many articles, indexed by itself and not where it lies in a folder of other files. `source` opens it
    for the articles of these titles; None: all of them."""

    source: Callable[[Path, Collection[str] | None], DocumentSource]


def shown(path: Path | str) -> str:
    """A path as text. File names may hold bytes that are not text, which no database or terminal takes."""
    return os.fsencode(path).decode("utf-8", "replace")


def title_of(path: Path) -> str:
    """The file's name as a title, on one line and without control characters."""
    return " ".join(as_field(Path(shown(path)).stem.replace("_", " ")).split()) or "untitled"


def unreadable(path: Path | str, error: OSError) -> CorpusError:
    return CorpusError(f"{shown(path)} cannot be read: {error.strerror}.", hint="Check its permissions.")


def plain(text: str) -> str:
    """Text that databases and terminals take: without NUL and lone surrogates, lines ending in `\\n`."""
    text = text.encode("utf-8", "replace").decode().replace("\0", "")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def or_else(items: Iterator[T], nothing: T | IterativeRAGError) -> Iterator[T]:
    """The same items; where there are none, `nothing`, which is raised if it is an error."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        if isinstance(nothing, IterativeRAGError):
            raise nothing
        yield nothing


def limit_skipped(reading: Reading, source: str, unit: str = "record", limit: int = MAX_SKIPPED) -> Reading:
    """The same items, but of those that were skipped only the first `limit`, then a count of the others."""
    skipped = 0
    for item in reading:
        skipped += isinstance(item, Skipped)
        if isinstance(item, Document) or skipped <= limit:
            yield item
    if skipped > limit:
        yield Skipped(source, f"{counted(skipped - limit, f'more {unit} was', f'more {unit}s were')} left out.")


class FileSource:
    """A file of many documents as a source of its own, of an encyclopedia only the articles of these `titles`."""

    def __init__(self, path: Path | str, *, titles: Collection[str] | None = None) -> None:
        self.path = Path(path).expanduser().absolute()
        self.root = shown(self.path)
        self.titles = None if titles is None else tuple(dict.fromkeys(titles))
        self.total = None if self.titles is None else len(self.titles)  # counting would mean reading the file

    def check(self) -> None:
        if self.path.is_dir() or not self.path.exists():  # a pipe or a device is there, and refused when it is opened
            raise CorpusError(f"There is no file {self.root}.", hint="Check the path.")

    def opened(self) -> BinaryIO:
        """The file, unpacked where its name says that it is packed. Raises CorpusError."""
        unpacking: Callable[..., Any] = {".bz2": bz2.open, ".gz": gzip.open}.get(self.path.suffix.lower(), open)
        try:
            return cast(BinaryIO, unpacking(readable(self.path), "rb"))
        except OSError as error:
            raise unreadable(self.path, error) from error

    def articles(self, reading: Reading, hint: str) -> Reading:
        """The articles of an encyclopedia. Raises CorpusError where there is none; `hint` says what to give."""
        reading = or_else(reading, CorpusError(f"{self.path} holds no article.", hint=hint))
        return limit_skipped(reading, self.root, "page", MAX_PAGES_SKIPPED)


def format_of(name: str) -> Format | Encyclopedia | None:
    """None for files of no known format."""
    suffix = next((suffix for suffix in FORMATS.names if name.lower().endswith(suffix)), None)
    return FORMATS.load(suffix) if suffix else None


def format_in_folder(name: str) -> Format | None:
    """The format of a file that is read where it lies among others; None for encyclopedias and hidden files."""
    form = None if name.startswith(".") else format_of(name)
    return form if isinstance(form, Format) else None


# --- ZIP archives of XML: Word, OpenDocument, Excel, PowerPoint, EPUB --------------------------------

MAX_ARCHIVE_BYTES = 96 * 1024 * 1024  # of the file, and of all its parts (pictures among them) when unpacked
MAX_PARTS = 10_000
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # the begin of an encrypted file of Office, or of its formats before 2007
# The parts that are parsed as XML, which have limits of their own.
XML = (".xml", ".rels", ".opf")
# A document type alone is harmless: no parser here fetches the DTD that it names. OpenOffice wrote one into manifests.
_DECLARATION = re.compile(rb"<!(?:ENTITY|ATTLIST|ELEMENT|NOTATION)")
_BLOCK, _OVERLAP = 1 << 20, 64


# What zipfile, the libraries and the XML parsers raise for parts that are missing, malformed or damaged.
_FAULTS = (
    *(LookupError, ValueError, AttributeError, TypeError, SyntaxError, EOFError, NotImplementedError),
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, lzma.LZMAError),
)
PAGES = ("lxml", "html_to_markdown", "selectolax")  # what reads parts that are pages, or are written as such
Documents = Callable[[zipfile.ZipFile, Path, str], Reading]


def archive_format(
    kind: str, old: str, max_xml_bytes: int, documents: Documents, *, needs: tuple[str, ...] = PAGES, many: bool = False
) -> Format:
    """The format of archives that are checked before their `documents` are read.

    `kind` is what one should be ("a Word file"), `old` the suffix of the format before it (".doc"), "" for none.
    `max_xml_bytes` is the limit of all parts that are parsed.
    """

    def read(path: Path) -> Reading:
        source = shown(path)
        try:
            with zipfile.ZipFile(path) as archive:
                if fault := _fault_of(archive, kind, max_xml_bytes):
                    raise CorpusError(fault)
                yield from or_else(documents(archive, path, source), Skipped(source, "It holds no text."))
        except RecursionError as error:
            raise CorpusError("Its parts are nested too deeply to be read.") from error
        except _FAULTS as error:
            with path.open("rb") as file:
                if old and file.read(len(_OLE)) == _OLE:
                    raise CorpusError(f"It is locked with a password, or an old {old} file.") from error
            raise CorpusError(f"It is not {kind}, or damaged ({type(error).__name__}).") from error

    return Format(read, MAX_ARCHIVE_BYTES, needs=needs, many=many)


def _fault_of(archive: zipfile.ZipFile, kind: str, max_xml_bytes: int) -> str | None:
    """Why the archive is not read; None where it may be. The sizes that it declares hold: zipfile reads no byte
    beyond them."""
    parts = archive.infolist()
    xml = [part for part in parts if part.filename.lower().endswith(XML)]
    if len(parts) > MAX_PARTS:
        return f"It is a zip bomb: it holds {len(parts):,} parts."
    if any(part.flag_bits & 1 for part in parts):
        return "It is locked with a password."
    if sum(part.file_size for part in parts) > MAX_ARCHIVE_BYTES:
        limit = f"{MAX_ARCHIVE_BYTES / 1e6:.0f} MB"
        return f"Unpacked it is larger than the limit of {limit} (a zip bomb, or many pictures)."
    if sum(part.file_size for part in xml) > max_xml_bytes:
        return f"Its text is larger than the limit of {max_xml_bytes / 1e6:.0f} MB when unpacked (a zip bomb?)."
    # A few bytes of entities, or of default values of attributes, can stand for gigabytes.
    if any(_declares(archive, part) for part in xml):
        return f"Its XML defines entities or default values, which {kind} never does: it is an XML bomb."
    return None


def _declares(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bool:
    """Whether a part declares anything in its document type, also in UTF-16."""
    before = b""
    with archive.open(part) as file:
        while block := file.read(_BLOCK):
            before = before[-_OVERLAP:] + block.replace(b"\0", b"")
            if _DECLARATION.search(before):
                return True
    return False
