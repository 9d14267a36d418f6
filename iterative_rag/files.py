"""What has to be known about a file before it is opened."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

NOT_REGULAR = "it is no regular file but a pipe, a socket or a device"
# What the shell has opened: `<(command)` and redirected input. Reading it ends when the other side does.
_OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")


def readable(path: Path) -> Path:
    """The path itself. Raises OSError where there is nothing, or where reading might wait or go on for ever."""
    mode = path.stat().st_mode
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or str(path).startswith(_OPEN_ALREADY):
        return path
    raise OSError(errno.EINVAL, NOT_REGULAR, str(path))
