"""What has to be known about a file before it is opened, and about a disk when it cannot be written to."""

from __future__ import annotations

import errno
import shutil
import stat
import tempfile
from pathlib import Path

from iterative_rag.errors import CorpusError, DiskFull

NOT_REGULAR = "it is no regular file but a pipe, a socket or a device"
# What the shell has opened: `<(command)` and redirected input. Reading it ends when the other side does.
_OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_PROBE_BYTES = 64 * 1024
_MB = 1024 * 1024


def readable(path: Path) -> Path:
    """The path itself. Raises OSError where there is nothing, or where reading might wait or go on for ever."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or str(path).startswith(_OPEN_ALREADY):
        return path
    raise OSError(errno.EINVAL, NOT_REGULAR, str(path))


def free_bytes(path: Path) -> int:
    """What may still be written where `path` is or will be."""
    return shutil.disk_usage(_existing(path)).free


def is_no_room(error: BaseException) -> bool:
    """Whether the system refused a write for want of room: a full disk or a quota."""
    return isinstance(error, OSError) and error.errno in _NO_ROOM


def has_no_room(path: Path) -> bool:
    """Whether a small file cannot be written where `path` is. For libraries that do not say why a write failed."""
    try:
        with tempfile.TemporaryFile(dir=_existing(path)) as file:
            file.write(bytes(_PROBE_BYTES))
            file.flush()
    except OSError as error:
        return is_no_room(error)
    return False


def disk_full(path: Path, needed: int = _MB) -> DiskFull:
    """The error for a write at or below `path` that needs so many bytes, with what there is."""
    free = free_bytes(path)
    if free < needed:
        message = f"The disk of {path} is full: {needed // _MB:,} MB are needed, {free // _MB:,} MB are free."
    else:
        message = f"There is no room left for {path}: a quota is used up."
    return DiskFull(message, hint="Make room and run the same command again: it goes on where it stopped.")


def unwritable(path: Path, error: OSError) -> CorpusError:
    """The error for a write to `path` that failed with `error`."""
    if is_no_room(error):
        return disk_full(path)
    return CorpusError(f"{path} cannot be written: {error.strerror}.", hint="Check the folder and the disk.")


def _existing(path: Path) -> Path:
    """The folder that is there: the path itself or the nearest above it."""
    return next(folder for folder in (path, *path.absolute().parents) if folder.is_dir())
