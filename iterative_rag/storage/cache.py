"""Replies, extractions and query vectors, kept on disk between runs: JSON under hashed keys in an SQLite file that
processes share. No fault of it stops a run.

The file is untrusted input. No value is a pickle or names a file; the schema must be the one below, so that no foreign
trigger, view or generated column runs; each row carries a checksum of its key and text; and no row above MAX_BYTES is
read into memory. An entry whose checksum or shape is wrong is dropped and counts as a miss, a damaged file is moved
away and replaced, any other fault is logged once and counts as a miss.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import sqlite3
import threading
from collections.abc import Callable
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any, TypeVar

from iterative_rag.errors import CorpusError
from iterative_rag.system.files import make_private, tighten

logger = logging.getLogger(__name__)
T = TypeVar("T")

FILE_NAME = "cache.sqlite"
MAX_BYTES = 8 * 1024 * 1024
# A process waits so long for another's write, then goes on without the cache.
LOCK_SECONDS = 5.0
_TABLE = (
    "CREATE TABLE entries"
    " (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, checksum BLOB NOT NULL)"
)
# Of the oldest entries, when the file is full.
_EVICTED_AT_ONCE = 16
# Bytes of a record besides the text: its header, key and checksum.
_RECORD_OVERHEAD = 4096


def cache_key(kind: str, *parts: object) -> str:
    """The key of a cached value: a hash of everything that it depends on.

    `kind` names what is cached ("llm", "extract" ...). `parts` are JSON values: the content that was read, the model,
    and the versions of prompt and schema. A change of any of them is a miss.
    """
    return sha256(json.dumps([kind, *parts]).encode()).hexdigest()


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
        self._opened: sqlite3.Connection | None = None
        self._opened_by = 0
        self._warned: set[str] = set()

    def get(self, key: str, read: Callable[[Any], T]) -> T | None:
        """`read` of the value under `key`; None where there is no value or `read` raises ValueError."""
        name = _name(key)
        try:
            text = self._guarded(lambda db: _text(db, name))
            return None if text is None else read(json.loads(text))
        except (ValueError, RecursionError) as error:
            self._warn("entry", f"An entry of the cache {self.folder} is damaged and was dropped: {error}.")
            self._guarded(lambda db: db.execute("DELETE FROM entries WHERE key = ?", (name,)))
        return None

    def put(self, key: str, value: Any) -> None:
        """Keep a JSON value. One with NaN or infinity, or of more than 8 MiB, is not kept."""
        try:
            text = json.dumps(value, allow_nan=False).encode()
        except ValueError:
            return
        if len(text) <= MAX_BYTES:
            self._guarded(lambda db: _put(db, _name(key), text, self._limit))

    def size(self) -> tuple[int, int]:
        """The entries and the bytes that they take. A cache that does not exist yet is not created.

        Raises CorpusError where it cannot be read.
        """
        if not (self.folder / FILE_NAME).exists():
            return 0, 0
        return self._used(lambda db: (int(db.execute("SELECT count(*) FROM entries").fetchone()[0]), _bytes(db)))

    def clear(self) -> None:
        """Remove all entries. Raises CorpusError where that cannot be done."""
        self._used(lambda db: db.executescript("DELETE FROM entries; VACUUM"))

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._opened is not None:
                self._opened.close()
                self._opened = None

    # --- faults ------------------------------------------------------------------------------

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `_used` gives, None after a fault."""
        try:
            return self._used(work)
        except CorpusError as error:
            self._warn("fault", str(error))
            return None

    def _used(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`, repeated once a damaged file is replaced. Raises CorpusError after any other fault."""
        with self._lock:
            try:
                try:
                    return work(self._connection())
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    if not _is_damage(error):
                        raise
                    self._replace(error)
                    return work(self._connection())
            except (OSError, sqlite3.Error, UnicodeDecodeError) as error:
                told = f"The cache {self.folder} is not used: {error}"
                raise CorpusError(told, hint="Check the folder and the disk.") from error

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None or self._opened_by != os.getpid():  # a connection must not be used across a fork
            self._opened, self._opened_by = _opened(self.folder), os.getpid()
        return self._opened

    def _replace(self, error: Exception) -> None:
        """Move the damaged folder away. Where two processes do so at once, entries of one are lost. Raises OSError."""
        self.close()
        aside = self.folder.with_name(f"{self.folder.name}.damaged")
        if aside.exists():
            shutil.rmtree(aside)
        self.folder.rename(aside)
        self._warn("damage", f"The cache {self.folder} is damaged ({error}): moved to {aside}, a new one is used.")

    def _warn(self, kind: str, message: str) -> None:
        """Warn once for each kind of fault: a full disk would repeat it endlessly."""
        logger.log(logging.DEBUG if kind in self._warned else logging.WARNING, "%s", message)
        self._warned.add(kind)


def _is_damage(error: Exception) -> bool:
    """Whether the file is damaged, and not only locked, full or inaccessible. A message of SQLite that cannot be
    decoded quotes a damaged schema."""
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHORT_READ:
        return True
    return not isinstance(error, sqlite3.OperationalError)


# --- the file --------------------------------------------------------------------------------


def _opened(folder: Path) -> sqlite3.Connection:
    """The file, made where there is none, with the settings that SQLite's manual advises for untrusted files."""
    tighten(folder)
    path = folder / FILE_NAME
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise sqlite3.DatabaseError("it is a link or not a plain file")  # never write outside the folder through a link
    make_private(path)
    # Not always the same thread, but one at a time.
    db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    db.text_factory = bytes  # invalid UTF-8 is left to the checksum
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES + _RECORD_OVERHEAD)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA mmap_size = 0")  # a file truncated by another process must be an error, not a SIGBUS
        db.execute("PRAGMA synchronous = NORMAL")
        if not _schema(db):
            db.execute("PRAGMA journal_mode = WAL")
            with db:
                db.execute("BEGIN IMMEDIATE")
                if not _schema(db):  # another process may have been faster
                    db.execute(_TABLE)
        if _schema(db) != [_TABLE]:
            raise sqlite3.DatabaseError("it holds other tables than those of a cache")
    except BaseException:
        db.close()
        raise
    return db


def _schema(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return [bytes(sql).decode(errors="replace") for (sql,) in rows]


def _text(db: sqlite3.Connection, key: str) -> bytes | None:
    """The text under this key. Raises ValueError where it is not what was written."""
    try:
        row = db.execute("SELECT value, checksum FROM entries WHERE key = ?", (key,)).fetchone()
    except sqlite3.DataError as error:
        raise ValueError("it is too large") from error
    if row is None:
        return None
    text, checksum = row
    if not isinstance(text, bytes) or checksum != _checksum(key, text):
        raise ValueError("its checksum is wrong")
    return text


def _put(db: sqlite3.Connection, key: str, text: bytes, limit: int) -> None:
    """Write an entry, and remove the oldest while the file holds more than `limit` bytes."""
    with db:  # commits, or rolls back after a fault
        db.execute("BEGIN IMMEDIATE")
        insert = "INSERT OR REPLACE INTO entries (key, value, checksum) VALUES (?, CAST(? AS TEXT), ?)"
        db.execute(insert, (key, text, _checksum(key, text)))
        oldest = "SELECT id FROM entries ORDER BY id LIMIT ?"
        while _bytes(db) > limit:
            if not db.execute(f"DELETE FROM entries WHERE id IN ({oldest})", (_EVICTED_AT_ONCE,)).rowcount:
                break


def _bytes(db: sqlite3.Connection) -> int:
    """The size of the pages in use; those of removed entries stay in the file and are reused."""
    names = ("page_count", "freelist_count", "page_size")
    pages, free, size = (int(db.execute(f"PRAGMA {name}").fetchone()[0]) for name in names)
    return max(0, pages - free) * size


def _checksum(key: str, text: bytes) -> bytes:
    return blake2b(text, digest_size=16, key=key.encode()).digest()


def _name(key: str) -> str:
    """A short name for any key, which may hold a question, and with it lone surrogates."""
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()
