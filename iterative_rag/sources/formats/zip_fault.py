"""Why a ZIP archive of XML (Word, OpenDocument, Excel, PowerPoint, EPUB) is not read: bombs, passwords, damage."""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from iterative_rag.errors import CorpusError
from iterative_rag.protocols import Skipped
from iterative_rag.sources.formats.format import Format, Reading, or_else, shown

MAX_BYTES = 96 * 1024 * 1024
# Unpacked: all parts (pictures among them), and how many there may be.
MAX_UNPACKED_BYTES = MAX_BYTES
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

    return Format(read, MAX_BYTES, needs=needs, many=many)


def _fault_of(archive: zipfile.ZipFile, kind: str, max_xml_bytes: int) -> str | None:
    """Why the archive is not read; None where it may be. The sizes that it declares hold: zipfile reads no byte
    beyond them."""
    parts = archive.infolist()
    xml = [part for part in parts if part.filename.lower().endswith(XML)]
    if len(parts) > MAX_PARTS:
        return f"It is a zip bomb: it holds {len(parts):,} parts."
    if any(part.flag_bits & 1 for part in parts):
        return "It is locked with a password."
    if sum(part.file_size for part in parts) > MAX_UNPACKED_BYTES:
        limit = f"{MAX_UNPACKED_BYTES / 1e6:.0f} MB"
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
