"""The disk cache: JSON values under hashed keys, shared by processes. No fault of it stops a run.

Its content is untrusted: an entry whose checksum or shape is wrong is dropped and counts as a miss, a damaged file is
moved away and replaced, any other fault is logged once and counts as a miss.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, Never, TypeVar

from iterative_rag.errors import CorpusError
from iterative_rag.storage.cache.entries import FILE_NAME, LOCK_SECONDS, MAX_BYTES, DamagedEntry, Entries, is_damage
from iterative_rag.system.private_files import FILE_MODE

logger = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheStats:
    """`hits` and `misses` count since the cache was made or cleared, over all processes."""

    entries: int
    bytes: int
    hits: int
    misses: int


class NoCache:
    """Implements protocols.Cache and keeps nothing."""

    def get(self, key: str, read: Callable[[Any], T]) -> T | None:
        return None

    def put(self, key: str, value: Any) -> None:
        return None

    def close(self) -> None:
        return None


class DiskCache:
    """Implements protocols.Cache in `folder` (0700), opened on first use. Above `megabytes` the oldest go.

    Safe to use from several threads and processes.
    """

    def __init__(self, folder: Path, megabytes: int = 1024) -> None:
        self.folder = folder
        self._limit = megabytes * 1024 * 1024
        self._lock = threading.RLock()
        self._opened: Entries | None = None
        self._opened_by = 0
        self._hits = self._misses = 0
        self._warned: set[str] = set()

    def get(self, key: str, read: Callable[[Any], T]) -> T | None:
        """`read` of the value under `key`; None where there is no value or `read` raises ValueError."""
        name = _name(key)
        value: T | None = None
        try:
            text = self._guarded(lambda entries: entries.text(name), None)
            if text is not None:
                value = read(json.loads(text, parse_constant=_refuse_constant))
        except (DamagedEntry, ValueError, RecursionError) as error:
            reason = error if isinstance(error, DamagedEntry) else "its value has another shape"
            self._warn("entry", f"An entry of the cache {self.folder} is damaged and was dropped: {reason}.")
            self._guarded(lambda entries: entries.drop(name), None)
        with self._lock:
            self._hits += value is not None
            self._misses += value is None
        return value

    def put(self, key: str, value: Any) -> None:
        """Keep a JSON value. One with NaN or infinity, or of more than 8 MiB, is not kept."""
        try:
            text = json.dumps(value, allow_nan=False).encode()
        except ValueError:
            return
        if len(text) <= MAX_BYTES:
            self._guarded(lambda entries: entries.put(_name(key), text, self._limit), None)

    def stats(self) -> CacheStats:
        """Zeros where there is no cache yet; it is not created. Raises CorpusError where it cannot be read."""
        if not (self.folder / FILE_NAME).exists():
            return CacheStats(0, 0, 0, 0)

        def read(entries: Entries) -> CacheStats:
            self._write_counts(entries)
            return CacheStats(entries.number(), entries.bytes(), *entries.counts())

        return self._used(read)

    def clear(self) -> None:
        """Remove all entries and reset the counts. Raises CorpusError where that cannot be done."""
        with self._lock:
            self._hits = self._misses = 0
        self._used(lambda entries: entries.clear())

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._opened is not None:
                self._guarded(self._write_counts, None)
            self._close_file()

    def _write_counts(self, entries: Entries) -> None:
        """Hits are counted in memory and written now and then, so that a reader never waits for a writer's lock."""
        if self._hits or self._misses:
            entries.count(self._hits, self._misses)
            self._hits = self._misses = 0

    def _guarded(self, work: Callable[[Entries], T], otherwise: T) -> T:
        """What `_used` gives, or `otherwise`."""
        try:
            return self._used(work)
        except CorpusError as error:
            self._warn("fault", str(error))
            return otherwise

    def _used(self, work: Callable[[Entries], T]) -> T:
        """The result of `work`, repeated once a damaged file is replaced. Raises CorpusError after any other fault."""
        with self._lock:
            for attempt in (1, 2):
                try:
                    return work(self._entries())
                except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
                    if isinstance(error, OSError) or attempt == 2 or not is_damage(error, self.folder):
                        raise self._fault(f"is not used: {error}") from error
                    self._replace(error)
        raise AssertionError("unreachable")

    def _fault(self, what: str) -> CorpusError:
        return CorpusError(f"The cache {self.folder} {what}", hint="Check the folder and the disk.")

    def _entries(self) -> Entries:
        if self._opened is None or self._opened_by != os.getpid():  # a connection must not be used across a fork
            self._opened, self._opened_by = Entries(self.folder), os.getpid()
        return self._opened

    def _close_file(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _replace(self, error: Exception) -> None:
        """Move the damaged folder away, unless another process has done so. Raises CorpusError."""
        from filelock import FileLock

        seen = self._opened.identity if self._opened else Entries.identity_in(self.folder)
        self._close_file()
        try:
            with FileLock(f"{self.folder}.lock", timeout=LOCK_SECONDS, mode=FILE_MODE):
                if seen == Entries.identity_in(self.folder):
                    aside = self.folder.with_name(f"{self.folder.name}.damaged")
                    _remove(aside)
                    self.folder.rename(aside)
                    self._warn(
                        "damage", f"The cache {self.folder} is damaged ({error}): moved to {aside}, a new one is used."
                    )
        except OSError as fault:
            raise self._fault(f"is damaged ({error}) and cannot be moved: {fault}") from fault

    def _warn(self, kind: str, message: str) -> None:
        """Warn once for each kind of fault: a full disk would repeat it endlessly."""
        logger.log(logging.DEBUG if kind in self._warned else logging.WARNING, "%s", message)
        self._warned.add(kind)


def _name(key: str) -> str:
    """A short name for any key, which may hold a question, and with it lone surrogates."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def _refuse_constant(name: str) -> Never:
    raise ValueError(f"{name} is not JSON")


def _remove(path: Path) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.exists():
        shutil.rmtree(path)
