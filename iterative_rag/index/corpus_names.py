"""Names of corpora and the folders that they become.

A name may hold letters of any script, capitals, spaces and a few signs. Its folder holds lower-case ASCII only, so that
no file system mixes up, reserves or refuses it: what else stands in the name is written as `=` and the two hexadecimal
digits of each byte ("My towns" -> "=4dy=20towns"). A name of lower-case letters, digits, '.', '_' and '-' is
its folder.
"""

from __future__ import annotations

import re
import unicodedata

from iterative_rag.errors import UsageError

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
