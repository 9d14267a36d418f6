"""Files and folders that only their owner may read: 0700 and 0600, whatever the umask.

The data folder holds questions, documents and replies. On Windows a user's data folder is private anyway.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from iterative_rag.errors import SettingsError
from iterative_rag.system.files import readable, unwritable, write_whole

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
    # Passes over what another process removes meanwhile; `Path.rglob` fails at a folder that has vanished.
    for parent, folders, files in os.walk(folder):
        for path in (Path(parent, name) for name in (*folders, *files)):
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


# --- small JSON files: keys, trusted folders, hosts already announced ----------------------------


def read_json(path: Path) -> dict[str, Any]:
    """The object in the file; {} where there is none. Raises SettingsError."""
    try:
        with readable(path).open(encoding="utf-8") as file:
            open_to_others = os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077
            content = json.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:  # the file may be whole: it stays
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", hint=f"Look at it: ls -l '{path}'") from error
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} cannot be read: {type(error).__name__}.", hint=f"rm '{path}'") from error
    if open_to_others:
        raise SettingsError(f"{path} is open to other users of this machine.", hint=f"chmod 600 '{path}'")
    if not isinstance(content, dict):
        raise SettingsError(f"{path} does not hold a JSON object.", hint=f"rm '{path}'")
    return content


def update_json(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Apply `change` to the object in the file and write it atomically. Raises CorpusError and SettingsError."""
    from filelock import FileLock

    try:
        private_folder(path.parent)
        with FileLock(path.with_name(f".{path.name}.lock"), mode=0o600):
            held = read_json(path)
            change(held)
            write_whole(path, json.dumps(held, indent=2, sort_keys=True).encode(), mode=FILE_MODE)
    except OSError as error:
        raise unwritable(path, error) from error
