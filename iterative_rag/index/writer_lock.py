"""One writer at a time for a corpus, across processes. Readers need no lock: what they read never changes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from iterative_rag.errors import CorpusHeld
from iterative_rag.index.sqlite_errors import index_disk_full
from iterative_rag.system.files import is_disk_full, readable, unwritable
from iterative_rag.system.private_files import FILE_MODE, open_private, private_folder

WAIT_SECONDS = 1.5
_POLL_SECONDS = 0.02


class CorpusLock:
    """A file lock, released by the system when the process dies, with a file beside it that names the holder.

    Not reentrant; each use takes its own file handle.
    """

    def __init__(self, folder: Path, name: str, *, wait: float = WAIT_SECONDS) -> None:
        self.folder = folder / "locks"
        self.name = name
        self.wait = wait

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Raises CorpusHeld when another writer has held it for `wait` seconds."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / "writer.lock", thread_local=False, mode=FILE_MODE)
        try:
            private_folder(self.folder)
            lock.acquire(timeout=self.wait, poll_interval=_POLL_SECONDS)
        except Timeout as error:
            raise self._held() from error
        except OSError as error:
            if is_disk_full(error):
                raise index_disk_full(self.folder.parent) from error
            raise unwritable(self.folder, error) from error
        try:
            self._say_who()
            yield
        finally:
            with suppress(OSError):
                self._holder.unlink()
            lock.release()

    @property
    def _holder(self) -> Path:
        return self.folder / "writer.json"

    def _say_who(self) -> None:
        holder = {"pid": os.getpid(), "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]}
        # On a full disk the lock still works; only the name of the holder is missing.
        with suppress(OSError), open_private(self._holder) as file:
            json.dump(holder, file)

    def _held(self) -> CorpusHeld:
        try:
            holder = json.loads(readable(self._holder).read_text(encoding="utf-8"))
            who = f"process {int(holder['pid'])} ({holder['command']})"
        except (OSError, ValueError, KeyError, TypeError):
            who = "another process"
        return CorpusHeld(
            f"The corpus {self.name!r} is being written by {who}.",
            hint="Wait until it is done; asking and searching go on meanwhile.",
        )
