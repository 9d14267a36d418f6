"""Which generation of an index is being read: a shared lock on a file in its folder, which a reader never waits for.

The system drops it when a process dies. Where there are no such locks (Windows), the file is only kept open: a folder
that holds an open file cannot be renamed there.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from pathlib import Path

if sys.platform != "win32":
    import fcntl

PIN = "pin"
# On a file system without locks readers are unknown: a generation is removed once it has been outdated this long.
_UNTOLD_SECONDS = 24 * 3600.0


class Pin:
    """Keeps one generation from being removed until it is closed. Raises FileNotFoundError where it is gone."""

    def __init__(self, folder: Path) -> None:
        path = folder / PIN
        self._file = os.open(path, os.O_RDONLY)
        try:
            if not _locked(self._file) or not os.path.samestat(os.fstat(self._file), path.stat()):
                raise FileNotFoundError(path)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def removed(folder: Path) -> bool:
    """Remove a generation unless it is being read; returns whether it is gone."""
    if sys.platform == "win32":
        aside = folder.with_name(f"removed-{folder.name}")
        try:
            folder.rename(aside)
        except OSError:
            return False
        shutil.rmtree(aside, ignore_errors=True)
        return True
    try:
        file = os.open(folder / PIN, os.O_RDWR)
    except FileNotFoundError:
        shutil.rmtree(folder, ignore_errors=True)  # a killed run removed it only in part
        return not folder.exists()
    try:
        if not _locked(file, alone=True):
            return False
        # The pin goes first: from here on no reader takes the folder for a complete generation.
        (folder / PIN).unlink()
        shutil.rmtree(folder, ignore_errors=True)
        return True
    finally:
        os.close(file)


def _locked(file: int, *, alone: bool = False) -> bool:
    """Take the lock, shared or alone; False if a lock of others stands against it."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_EX if alone else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # no locks on this file system: see _UNTOLD_SECONDS
        return not alone or time.time() - os.fstat(file).st_mtime > _UNTOLD_SECONDS
    return True
