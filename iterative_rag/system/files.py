"""Files: checks before one is opened, writing whole or not at all, errors for those that cannot be written; and files
and folders that only their owner may read, 0700 and 0600, whatever the umask.

The data folder holds questions, documents and replies. On Windows a user's data folder is private anyway.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from iterative_rag.errors import CorpusError, DiskFull, IterativeRAGError, SettingsError

CORPUS_DATABASE = "documents.sqlite"  # by which the folder of a corpus is known: its documents
NOT_REGULAR = "it is not a regular file but a pipe, a socket or a device"
# Opened by the shell: `<(command)` and redirected input, which end when the other side does.
OPENED_BY_SHELL = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
UNFINISHED = ".unfinished-"  # begins the name of a file while it is written
FOLDER_MODE = 0o700
FILE_MODE = 0o600
_CHECK = "Check the folder and the disk."
_END_OTHERS = "End other programs, then type it again."
_MB = 1024 * 1024


def readable(path: Path) -> Path:
    """The path itself. Raises OSError where there is no file, or where reading it might never end."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or str(path).startswith(OPENED_BY_SHELL):
        return path
    raise OSError(errno.EINVAL, NOT_REGULAR, str(path))


def free_bytes(path: Path) -> int:
    """The space left on the disk of `path`, which need not exist yet."""
    return shutil.disk_usage(_existing(path)).free


def is_disk_full(error: BaseException) -> bool:
    """Whether a write failed because the disk or a quota is full."""
    return isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)


def is_full(path: Path) -> bool:
    """Whether the disk of `path` is full, for libraries that do not say why a write failed."""
    return free_bytes(path) < _MB


def check_writable(path: Path) -> None:
    """Raise CorpusError where a small file cannot be written at or below `path`."""
    try:
        with tempfile.TemporaryFile(dir=_existing(path)) as file:
            file.write(bytes(64 * 1024))
            file.flush()
    except OSError as error:
        raise unwritable(path, error) from error


def disk_full(path: Path, needed: int = _MB) -> DiskFull:
    """The error for a write of `needed` bytes at or below `path`."""
    message = f"There is no space left for {path}: a quota is used up."
    if (free := free_bytes(path)) < needed:
        message = f"The disk of {path} is full: {needed // _MB:,} MB are needed, {free // _MB:,} MB are free."
    return DiskFull(message, hint="Free some space and run the same command again: it goes on where it stopped.")


def unwritable(path: Path, error: OSError) -> CorpusError:
    """The error for a write to `path` that failed with `error`."""
    if is_disk_full(error):
        return disk_full(path)
    return CorpusError(f"{path} cannot be written: {error.strerror}.", hint=_CHECK)


def refusal(error: BaseException, path: Path | None = None) -> IterativeRAGError | None:
    """The error for what the system refused (a disk, memory, a thread, an open file), at `path` where it names no file;
    None for any other error. It says nothing about what the files hold."""
    if isinstance(error, MemoryError):
        return CorpusError("There is not enough memory left.", hint=_END_OTHERS)
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        return CorpusError("The system lets this process start no more threads.", hint=_END_OTHERS)
    network = isinstance(error, ConnectionError | TimeoutError) or type(error).__module__ != "builtins"
    if not isinstance(error, OSError) or network or error.errno is None:
        return None
    where = Path(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else path
    if is_disk_full(error):
        return disk_full(where) if where else DiskFull("A disk is full.", hint="Free some space, then type it again.")
    what = f"{where} cannot be used" if where else "The system refuses what this command needs"
    return CorpusError(f"{what}: {error.strerror or os.strerror(error.errno)}.", hint=_CHECK)


def write_whole(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write all of a file or nothing of it: a process may be killed at any time. Raises CorpusError."""
    new = path.with_name(f"{UNFINISHED}{os.getpid()}-{threading.get_ident()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            new.unlink()
        raise unwritable(path, error) from error


def _existing(path: Path) -> Path:
    """The path itself or the nearest parent that exists."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())


# --- private ones ---------------------------------------------------------------------------------


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
    with contextlib.suppress(OSError):
        status = path.stat()
        usable = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
        ours = status.st_uid == os.getuid() and not status.st_mode & stat.S_ISVTX
        if usable and ours and stat.S_IMODE(status.st_mode) != mode:
            path.chmod(mode)


# --- JSON, and small files of it: keys, trusted folders, hosts already announced ------------------


def json_value(text: str | bytes) -> Any:
    """What the text says. Raises ValueError, for what is nested too deeply a JSONDecodeError, too."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise json.JSONDecodeError("Nested too deeply", "", 0) from error


def read_json(path: Path) -> dict[str, Any]:
    """The object in the file; {} where there is none. Raises SettingsError."""
    try:
        with readable(path).open(encoding="utf-8") as file:
            open_to_others = os.name == "posix" and os.fstat(file.fileno()).st_mode & 0o077
            content = json_value(file.read())
    except FileNotFoundError:
        return {}
    except OSError as error:  # the file may be whole: it stays
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", hint=f"Look at it: ls -l '{path}'") from error
    except ValueError as error:
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
        with FileLock(path.with_name(f".{path.name}.lock"), mode=FILE_MODE):
            held = read_json(path)
            change(held)
            write_whole(path, json.dumps(held, indent=2, sort_keys=True).encode(), mode=FILE_MODE)
    except OSError as error:
        raise unwritable(path, error) from error
