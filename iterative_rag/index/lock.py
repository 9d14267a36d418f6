"""Who may use a corpus: many readers or one writer, across processes, with the holder's name in the refusal.

A readers-writer lock made of plain file locks, which the system drops when a process dies: a reader takes
any one of the slots, a writer takes all of them. Beside each slot a small file says who took it. A writer
that has to wait says so in a file of its own; readers look at it and let go of what they only keep at hand.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from iterative_rag.errors import CorpusError, CorpusHeld
from iterative_rag.files import is_no_room
from iterative_rag.index.faults import index_disk_full
from iterative_rag.private_files import FILE_MODE, make_private, open_private, private_folder

SLOTS = 16
WAIT_SECONDS = 1.5
_POLL_SECONDS = 0.02


class CorpusLock:
    """The locks of one corpus folder. Not reentrant; each use takes its own file handles."""

    def __init__(self, folder: Path, name: str, *, wait: float = WAIT_SECONDS) -> None:
        self.folder = folder / "locks"
        self.name = name
        self.wait = wait

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Hold one slot. Raises CorpusHeld after `wait` seconds."""
        deadline = time.monotonic() + self.wait
        while True:
            for slot in range(0 if self.wanted() else SLOTS):
                # Spread by process, so that readers rarely try the same slot first.
                number = (slot + os.getpid()) % SLOTS
                if lock := self._take(number):
                    try:
                        yield
                    finally:
                        self._drop(number, lock)
                    return
            if time.monotonic() >= deadline:
                raise self._held()
            time.sleep(_POLL_SECONDS)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold every slot. Raises CorpusHeld after `wait` seconds."""
        deadline = time.monotonic() + self.wait
        taken: list[tuple[int, Any]] = []
        try:
            for number in range(SLOTS):
                while not (lock := self._take(number)):
                    if time.monotonic() >= deadline:
                        raise self._held(number)
                    self._ask_for_it()
                    time.sleep(_POLL_SECONDS)
                taken.append((number, lock))
            self._stop_asking()
            yield
        finally:
            self._stop_asking()
            for number, lock in reversed(taken):
                self._drop(number, lock)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """A short moment in which no other process opens or closes the index (doing so rewrites small files)."""
        from filelock import FileLock, Timeout

        self._make_folder()
        try:
            with FileLock(self.folder / "opening.lock", timeout=self.wait * 4, thread_local=False, mode=FILE_MODE):
                yield
        except Timeout as error:
            raise self._held() from error

    def wanted(self) -> bool:
        """Whether a writer waits for the readers to let go. One that died while waiting does not count for long."""
        try:
            age = time.time() - (self.folder / "wanted").stat().st_mtime
        except OSError:
            return False
        return abs(age) < self.wait

    def _ask_for_it(self) -> None:
        with suppress(OSError):  # on a full disk the writer has to wait its turn
            make_private(self.folder / "wanted")

    def _stop_asking(self) -> None:
        with suppress(OSError):
            (self.folder / "wanted").unlink()

    def _make_folder(self) -> None:
        try:
            private_folder(self.folder)
        except OSError as error:
            if is_no_room(error):
                raise index_disk_full(self.folder.parent) from error
            raise CorpusError(f"{self.folder} cannot be written: {error.strerror}.", hint="See the disk.") from error

    def _take(self, number: int) -> Any | None:
        from filelock import FileLock, Timeout

        self._make_folder()
        lock = FileLock(self.folder / f"{number}.lock", timeout=0, thread_local=False, mode=FILE_MODE)
        try:
            lock.acquire()
        except Timeout:
            return None
        holder = {"pid": os.getpid(), "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]}
        # A full disk must not refuse the lock: only the name is missing then.
        with suppress(OSError), open_private(self.folder / f"{number}.holder") as file:
            json.dump(holder, file)
        return lock

    def _drop(self, number: int, lock: Any) -> None:
        with suppress(OSError):
            (self.folder / f"{number}.holder").unlink()
        lock.release()

    def _held(self, number: int | None = None) -> CorpusHeld:
        numbers = range(SLOTS) if number is None else [number]
        holders = [holder for one in numbers if (holder := self._holder(one))]
        pid, command = holders[0] if holders else (0, "")
        who = f"process {pid} ({command})" if pid else "another process"
        return CorpusHeld(
            f"The corpus {self.name!r} is held by {who}.",
            hint=f"Wait until it is done or stop it (kill {pid})." if pid else "Wait until it is done.",
        )

    def _holder(self, number: int) -> tuple[int, str] | None:
        try:
            holder = json.loads((self.folder / f"{number}.holder").read_text(encoding="utf-8"))
            return int(holder["pid"]), str(holder["command"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
