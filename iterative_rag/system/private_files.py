"""Files and folders that only their owner may read: 0700 and 0600, whatever the umask.

The data folder holds questions, documents and replies. On Windows a user's data folder is private anyway.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TextIO

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def private_folder(folder: Path) -> Path:
    """Create the folder and its missing parents, or restrict an existing one. Raises OSError."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=FOLDER_MODE, exist_ok=True)
        _restrict(path, FOLDER_MODE)  # a default ACL or an unusual umask may have changed the mode
    if not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(folder))
    _restrict(folder, FOLDER_MODE)
    return folder


def open_private(path: Path) -> TextIO:
    """Open the file for writing UTF-8 text, created or restricted to be private. What is no plain file (a pipe) keeps
    its mode. Raises OSError."""
    # Without O_NONBLOCK, opening a named pipe waits until somebody reads from it.
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NONBLOCK", 0)
    descriptor = os.open(path, flags, FILE_MODE)
    _restrict(path, FILE_MODE)
    return os.fdopen(descriptor, "w", encoding="utf-8", errors="replace")


def make_private(path: Path) -> None:
    """Create an empty private file for a library to write to, or restrict an existing one."""
    path.touch(FILE_MODE)
    _restrict(path, FILE_MODE)


def tighten(folder: Path) -> None:
    """Make the folder and everything in it private. Links and their targets are left alone."""
    private_folder(folder)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            _restrict(path, FOLDER_MODE if path.is_dir() else FILE_MODE)


def _restrict(path: Path, mode: int) -> None:
    """Set the mode of a folder or plain file that belongs to the user, unless it has the sticky bit, as /tmp has.

    A file that has vanished needs no mode, and a file system without modes (exFAT) is the user's choice.
    """
    if os.name == "nt":
        return
    with suppress(OSError):
        status = path.stat()
        usable = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        ours = status.st_uid == os.getuid() and not status.st_mode & stat.S_ISVTX
        if usable and ours and stat.S_IMODE(status.st_mode) != mode:
            path.chmod(mode)
