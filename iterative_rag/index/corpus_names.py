"""Names of corpora and the folders that they become; and the ZIM files that were asked, each a corpus whose folder
holds nothing but where the file is, so that every door knows it by its name.

A name may hold letters of any script, capitals, spaces and a few signs. Its folder holds lower-case ASCII only, so that
no file system mixes up, reserves or refuses it: what else stands in the name is written as `=` and the two hexadecimal
digits of each byte ("My towns" -> "=4dy=20towns"). A name of lower-case letters, digits, '.', '_' and '-' is
its folder.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from contextlib import suppress
from pathlib import Path

from iterative_rag.errors import CorpusNotFound, UsageError
from iterative_rag.sources.formats.format import shown
from iterative_rag.system.files import FILE_MODE, private_folder, unwritable, write_whole

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
# What Windows takes for a device, whatever suffix follows.
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?")
_KEPT = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")
_SIGNS = frozenset(" ._-'’()&,+")
_MOST_CHARS = 100
_MOST_BYTES = 240  # of a folder's name: file systems allow 255


def encoded(name: str) -> str:
    """A name as lower-case ASCII, different for every name. Raises UsageError for what cannot be a name."""
    name = unicodedata.normalize("NFC", name)
    signs = all(char.isalnum() or char in _SIGNS or unicodedata.category(char) in ("Mn", "Mc") for char in name)
    if not (signs and name[:1].isalnum()) or name.endswith(" "):
        raise UsageError(
            f"{name!r} cannot be the name of a corpus.",
            hint="Use letters, digits, spaces and . _ - ' ( ) & , +, beginning with a letter or digit.",
        )
    if _PLAIN.fullmatch(name) and not name.endswith("."):
        return _escaped(name[0]) + name[1:] if _RESERVED.fullmatch(name) else name
    folder = "".join(letter if letter in _KEPT else _escaped(letter) for letter in name)
    if len(name) > _MOST_CHARS or len(folder) > _MOST_BYTES:
        raise UsageError(f"The name of the corpus {name!r} is too long.", hint="Use a shorter one.")
    return folder


def decoded(folder: str) -> str | None:
    """The name of which `encoded` makes this; None if there is none."""
    if _PLAIN.fullmatch(folder):
        return folder
    try:
        name = re.sub(rb"=([0-9a-f]{2})", lambda byte: bytes.fromhex(byte[1].decode()), folder.encode()).decode()
        return name if encoded(name) == folder else None
    except (UnicodeError, UsageError):
        return None


def _escaped(letter: str) -> str:
    return "".join(f"={byte:02x}" for byte in letter.encode())


_LINK = "zim-file"
_SUFFIX = ".zim"
_DUMPS = (".xml", ".xml.bz2", ".xml.gz", ".xml.xz", ".xml.7z")


def linked_file(folder: Path) -> Path | None:
    """The ZIM file that the folder of a corpus leads to; None for a corpus that was indexed."""
    with suppress(FileNotFoundError, NotADirectoryError, UnicodeDecodeError):
        return Path((folder / _LINK).read_text(encoding="utf-8"))
    return None


def known_name(root: Path, asked: str) -> str:
    """The name of a corpus: `asked` itself, or that of the ZIM file at this path, which is known by it from now on.

    Raises CorpusNotFound for a dump or a missing file, and UsageError where its name cannot be that of a corpus or is
    that of another file.
    """
    try:
        path = Path(asked).expanduser().absolute()
    except RuntimeError:  # "~name" of nobody
        path = Path(asked).absolute()
    if asked.lower().endswith(_DUMPS) and path.is_file():
        command = f"iterative-rag index {shlex.quote(asked)} --corpus {shlex.quote(path.name.partition('.')[0])}"
        raise CorpusNotFound(
            f"{asked} has no index to search.",
            hint=f"Index it: {command}. Or take the same wiki as a ZIM file (library.kiwix.org).",
        )
    if not asked.lower().endswith(_SUFFIX):
        return asked
    if not path.is_file():
        if Path(asked).name == asked and (root / encoded(asked)).exists():
            return asked
        raise CorpusNotFound(f"There is no file {asked}.", hint="Check the path. Known files: iterative-rag corpus")
    folder = root / encoded(path.name)
    other = linked_file(folder)
    if other not in (None, path) and other.is_file() and not other.samefile(path):
        raise UsageError(
            f"{path.name} is known as another file, {other}.",
            hint=f"Give one of them another name, or forget the other: iterative-rag corpus remove {path.name} --yes",
        )
    if other != path and not any(folder.glob("*.sqlite")):
        try:
            private_folder(root)
            private_folder(folder)
        except OSError as error:
            raise unwritable(folder, error) from error
        write_whole(folder / _LINK, shown(path).encode(), mode=FILE_MODE)
    return path.name


def only_read(name: str) -> UsageError:
    message = f"{name} is a ZIM file, to which nothing is added."
    return UsageError(message, hint=f"Index into another corpus, and ask both: --corpus {name},NAME")
