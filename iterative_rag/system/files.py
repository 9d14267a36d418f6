"""Checks before a file is opened, files written whole or not at all, and errors for those that cannot be written."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path

from iterative_rag.errors import CorpusError, DiskFull, IterativeRAGError

# The file by which the folder of a corpus is known: its documents.
CORPUS_DATABASE = "documents.sqlite"
NOT_REGULAR = "it is not a regular file but a pipe, a socket or a device"
# Opened by the shell: `<(command)` and redirected input, which end when the other side does.
OPENED_BY_SHELL = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
UNFINISHED = ".unfinished-"  # begins the name of a file while it is written
_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)
_CHECK = "Check the folder and the disk."
_END_OTHERS = "End other programs, then type it again."
_PROBE_BYTES = 64 * 1024
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
    return isinstance(error, OSError) and error.errno in _DISK_FULL


def is_full(path: Path) -> bool:
    """Whether the disk of `path` is full, for libraries that do not say why a write failed."""
    return free_bytes(path) < _MB


def check_writable(path: Path) -> None:
    """Raise CorpusError where a small file cannot be written at or below `path`."""
    try:
        with tempfile.TemporaryFile(dir=_existing(path)) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
    except OSError as error:
        raise unwritable(path, error) from error


def disk_full(path: Path, needed: int = _MB) -> DiskFull:
    """The error for a write of `needed` bytes at or below `path`."""
    free = free_bytes(path)
    if free < needed:
        message = f"The disk of {path} is full: {needed // _MB:,} MB are needed, {free // _MB:,} MB are free."
    else:
        message = f"There is no space left for {path}: a quota is used up."
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
