"""The disk cache: JSON values under hashed keys, shared by processes, never in the way of a run.

diskcache with JSONDisk, so that no value is ever a pickle. A fault of the cache is logged and counts as a miss; a
damaged database is set aside beside its folder and a new one begun.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from iterative_rag.files import has_no_room

if TYPE_CHECKING:
    import diskcache

logger = logging.getLogger(__name__)
T = TypeVar("T")
# Seconds that a process waits for another's write before it goes on without the cache.
PATIENCE = 5.0
# What diskcache cannot do without, by table.
_COLUMNS = {"Cache": "key, value, store_time, expire_time", "Settings": "key, value"}


@dataclass(frozen=True, slots=True)
class CacheStats:
    """`hits` and `misses` count since the cache was made or cleared, over all processes."""

    entries: int
    bytes: int
    hits: int
    misses: int


class NoCache:
    """Implements protocols.Cache by keeping nothing."""

    def get(self, key: str) -> Any | None:
        return None

    def put(self, key: str, value: Any) -> None:
        return None


class DiskCache:
    """Implements protocols.Cache in `folder` (0700). Beyond `megabytes` the oldest go. Opened when first used."""

    def __init__(self, folder: Path, megabytes: int = 1024) -> None:
        self.folder = folder
        self._limit = megabytes * 1024 * 1024
        self._lock = threading.RLock()
        self._opened: diskcache.Cache | None = None
        self._warned = False

    def get(self, key: str) -> Any | None:
        return self._guarded(lambda kept: kept.get(key), None)

    def put(self, key: str, value: Any) -> None:
        self._guarded(lambda kept: kept.set(key, value), False)

    def stats(self) -> CacheStats:
        def read(kept: diskcache.Cache) -> CacheStats:
            hits, misses = kept.stats()
            return CacheStats(len(kept), kept.volume(), hits, misses)

        return self._guarded(read, CacheStats(0, 0, 0, 0))

    def clear(self) -> None:
        """Remove every entry and start counting anew."""

        def clear(kept: diskcache.Cache) -> None:
            kept.clear()
            kept.stats(reset=True)

        self._guarded(clear, None)

    def close(self) -> None:
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    def _guarded(self, work: Callable[[diskcache.Cache], T], otherwise: T) -> T:
        """Do `work`; a damaged cache is rebuilt and tried once more, any other fault of it is a miss."""
        import diskcache

        for attempt in (1, 2):
            kept: diskcache.Cache | None = None
            try:
                kept = self._cache()
                return work(kept)
            except (diskcache.Timeout, OSError) as error:
                self._warn(error)
                break
            except (zlib.error, ValueError) as error:  # one entry that is not what was written
                self._warn(error)
                break
            except sqlite3.Error as error:
                if attempt == 2 or not _is_damage(error):
                    self._warn(error)
                    break
                self._set_aside(kept, error)
        return otherwise

    def _cache(self) -> diskcache.Cache:
        with self._lock:
            if self._opened is None:
                import diskcache

                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.folder.chmod(0o700)
                self._opened = diskcache.Cache(
                    str(self.folder),
                    disk=diskcache.JSONDisk,
                    timeout=PATIENCE,
                    size_limit=self._limit,
                    eviction_policy="least-recently-stored",
                    statistics=1,
                    sqlite_mmap_size=0,  # a file that another process cuts short must be an error, not a SIGBUS
                )
            return self._opened

    def _set_aside(self, seen: diskcache.Cache | None, error: sqlite3.Error) -> None:
        """Rename the damaged folder, unless another thread or process has done so meanwhile."""
        from filelock import FileLock

        with self._lock, FileLock(str(self.folder) + ".lock"):
            if self._opened is not None and self._opened is not seen:
                return
            self.close()
            if not self._damaged():
                return
            aside = _free_name(self.folder)
            self.folder.rename(aside)
            logger.warning("The cache %s is damaged (%s): set aside as %s and begun anew.", self.folder, error, aside)

    def _damaged(self) -> bool:
        """Whether the database on disk itself is broken, looked at with a fresh connection."""
        database = self.folder / "cache.db"
        if not database.exists():
            return False
        connection = sqlite3.connect(database, timeout=PATIENCE)
        try:
            if connection.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
                return True
            # A missing table is made by whoever opens the cache next, or is just being made.
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            for table, columns in _COLUMNS.items():
                if table in tables:
                    connection.execute(f"SELECT {columns} FROM {table} LIMIT 1")
            return False
        except sqlite3.Error as error:
            return _is_damage(error)
        finally:
            connection.close()

    def _warn(self, error: Exception) -> None:
        """Say it once: a full disk would else fill the screen too."""
        level = logging.DEBUG if self._warned else logging.WARNING
        self._warned = True
        if isinstance(error, sqlite3.OperationalError) and has_no_room(self.folder):
            logger.log(level, "The cache %s is left out: its disk is full.", self.folder)
        else:
            logger.log(level, "The cache %s is left out: %s: %s", self.folder, type(error).__name__, error)


def _is_damage(error: sqlite3.Error) -> bool:
    """A broken file, as against a busy or a full one (those are OperationalErrors)."""
    if isinstance(error, sqlite3.OperationalError):
        return "no such table" in str(error) or "no such column" in str(error)
    return isinstance(error, sqlite3.DatabaseError)


def _free_name(folder: Path) -> Path:
    number = 1
    while (name := folder.with_name(f"{folder.name}.damaged-{number}")).exists():
        number += 1
    return name
