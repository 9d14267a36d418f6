"""Files and folders that only their owner may read: 0700 and 0600, whatever the umask.

What lies in the data folder holds questions, documents and replies. Windows keeps a user's data folder private by
itself and knows no such modes.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TextIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def private_folder(folder: Path) -> Path:
    """Make the folder and the missing ones above it; tighten it where it is there already. Raises OSError."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=FOLDER_MODE, exist_ok=True)
        _restrict(place, FOLDER_MODE)  # a parent's default access list or an odd umask may have changed the mode
    _restrict(folder, FOLDER_MODE)
    return folder


def private_descriptor(path: Path, flags: int = os.O_WRONLY) -> int:
    """Open the file, made or tightened to be private. What is no plain file (a terminal, a pipe) keeps its mode.

    Raises OSError.
    """
    descriptor = os.open(path, flags | os.O_CREAT, FILE_MODE)
    _restrict(path, FILE_MODE)
    return descriptor


def open_private(path: Path) -> TextIO:
    """Open the file for writing text from its start (UTF-8), made or tightened to be private. Raises OSError."""
    return os.fdopen(private_descriptor(path, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8")


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may use, for a library that writes it; tighten it if it is there."""
    os.close(private_descriptor(path))


def tighten(folder: Path) -> None:
    """Take from others every right to the folder and to all in it. Links are left alone, and what they lead to."""
    private_folder(folder)
    for root, folders, files in os.walk(folder):
        for names, mode in ((folders, FOLDER_MODE), (files, FILE_MODE)):
            for name in names:
                path = Path(root, name)
                if not path.is_symlink():
                    _restrict(path, mode)


def _restrict(path: Path, mode: int) -> None:
    """Set the mode of a folder or plain file of ours.

    What vanished meanwhile needs none; a file system that knows no modes (exFAT) refuses, and is the user's choice. A
    folder with the sticky bit, such as /tmp, is meant for others too.
    """
    if os.name == "nt":
        return
    with suppress(OSError):
        found = path.stat()
        usable = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
        ours = found.st_uid == os.getuid() and not found.st_mode & stat.S_ISVTX
        if usable and ours and stat.S_IMODE(found.st_mode) != mode:
            path.chmod(mode)


__all__ = ["FILE_MODE", "make_private", "open_private", "private_descriptor", "private_folder", "tighten"]
