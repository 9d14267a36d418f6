"""The file of a cache: an SQLite table of keys, JSON texts and checksums, bounded by age.

The file is untrusted input. No value is a pickle or names a file; the schema must be the one below, so that no foreign
trigger, view or generated column runs; each row carries a checksum of its key and text; and no row above MAX_BYTES is
read into memory.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from iterative_rag.system.private_files import FILE_MODE, make_private, tighten

FILE_NAME = "cache.sqlite"
MAX_BYTES = 8 * 1024 * 1024
# A process waits so long for another's write, then goes on without the cache.
LOCK_SECONDS = 5.0

_TABLES = (
    "CREATE TABLE entries"
    " (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL, checksum BLOB NOT NULL)",
    "CREATE TABLE counts (hits INTEGER NOT NULL, misses INTEGER NOT NULL)",
)
# Of the oldest entries, when the file is full.
_EVICTED_AT_ONCE = 16
# Bytes of a record besides the text: its header, key and checksum.
_RECORD_OVERHEAD = 4096
# Errors of SQLite that are not about the content of the file.
_TRANSIENT = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_INTERRUPT,
        sqlite3.SQLITE_PROTOCOL,
    }
)


class DamagedEntry(ValueError):
    """One row is not what was written; the others may be fine."""


class ForeignFile(sqlite3.DatabaseError):
    """The file was not written by this package: it holds other tables."""


def is_damage(error: sqlite3.Error | UnicodeDecodeError, folder: Path) -> bool:
    """Whether the file is damaged, and not only locked, full or inaccessible.

    A message of SQLite that cannot be decoded quotes a damaged schema.
    """
    if isinstance(error, ForeignFile | UnicodeDecodeError):
        return True
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    if code == sqlite3.SQLITE_IOERR_SHORT_READ:
        return True
    if code & 0xFF == sqlite3.SQLITE_READONLY:  # also reported for a wrong byte in the header
        return os.access(folder, os.W_OK) and os.access(folder / FILE_NAME, os.W_OK)
    return code & 0xFF not in _TRANSIENT


class Entries:
    """An open cache file. Not safe to use from several threads at once; other processes may use the file as well.

    Raises sqlite3.Error and OSError; `is_damage` tells which of them mean that the file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        tighten(folder)
        path = folder / FILE_NAME
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise ForeignFile("it is a link or not a plain file")  # never write outside the folder through a link
        if self.identity_in(folder) is None or not path.stat().st_size:
            _create(folder)
        make_private(path)
        self.identity = self.identity_in(folder)
        self._db = _connected(path)
        try:
            if _schema(self._db) != set(_TABLES):
                raise ForeignFile("it holds other tables than those of a cache")
            (self._page_bytes,) = self._db.execute("PRAGMA page_size").fetchone()
        except BaseException:
            self._db.close()
            raise

    @staticmethod
    def identity_in(folder: Path) -> tuple[int, int] | None:
        """Tells one cache file from the next, after a damaged one was replaced."""
        try:
            status = (folder / FILE_NAME).lstat()
        except FileNotFoundError:
            return None
        return status.st_dev, status.st_ino

    def text(self, key: str) -> bytes | None:
        """The text under this key. Raises DamagedEntry."""
        try:
            row = self._db.execute("SELECT value, checksum FROM entries WHERE key = ?", (key,)).fetchone()
        except sqlite3.DataError as error:
            raise DamagedEntry("it is too large") from error
        if row is None:
            return None
        text, checksum = row
        if not isinstance(text, bytes) or checksum != _checksum(key, text):
            raise DamagedEntry("its checksum is wrong")
        return text

    def put(self, key: str, text: bytes, limit: int) -> None:
        """Write an entry, and remove the oldest while the file holds more than `limit` bytes."""
        with self._writing():
            self._db.execute(
                "INSERT OR REPLACE INTO entries (key, value, checksum) VALUES (?, CAST(? AS TEXT), ?)",
                (key, text, _checksum(key, text)),
            )
            oldest = "SELECT id FROM entries ORDER BY id LIMIT ?"
            while self.bytes() > limit:
                if not self._db.execute(f"DELETE FROM entries WHERE id IN ({oldest})", (_EVICTED_AT_ONCE,)).rowcount:
                    break

    def drop(self, key: str) -> None:
        with self._writing():
            self._db.execute("DELETE FROM entries WHERE key = ?", (key,))

    def clear(self) -> None:
        with self._writing():
            self._db.execute("DELETE FROM entries")
            self._db.execute("DELETE FROM counts")
            self._db.execute("INSERT INTO counts VALUES (0, 0)")
        self._db.execute("VACUUM")

    def count(self, hits: int, misses: int) -> None:
        with self._writing():
            self._db.execute("UPDATE counts SET hits = hits + ?, misses = misses + ?", (hits, misses))

    def counts(self) -> tuple[int, int]:
        """Hits and misses; 0 where damage made them anything but a count."""
        row = self._db.execute("SELECT hits, misses FROM counts").fetchone() or (0, 0)
        hits, misses = (number if isinstance(number, int) and number > 0 else 0 for number in row)
        return hits, misses

    def number(self) -> int:
        (number,) = self._db.execute("SELECT count(*) FROM entries").fetchone()
        return int(number)

    def bytes(self) -> int:
        """The size of the pages in use; those of removed entries stay in the file and are reused."""
        (pages,) = self._db.execute("PRAGMA page_count").fetchone()
        (free,) = self._db.execute("PRAGMA freelist_count").fetchone()
        return max(0, int(pages) - int(free)) * int(self._page_bytes)

    def close(self) -> None:
        self._db.close()

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise


def _checksum(key: str, text: bytes) -> bytes:
    return blake2b(text, digest_size=16, key=key.encode()).digest()


def _connected(path: Path) -> sqlite3.Connection:
    """With the settings that SQLite's manual advises for untrusted files."""
    # Not always the same thread, but one at a time.
    db = sqlite3.connect(path, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False)
    db.text_factory = bytes  # invalid UTF-8 is left to the checksum
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES + _RECORD_OVERHEAD)
    try:
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA mmap_size = 0")  # a file truncated by another process must be an error, not a SIGBUS
        db.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        db.close()
        raise
    return db


def _schema(db: sqlite3.Connection) -> set[str]:
    rows = db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {bytes(sql).decode(errors="replace") for (sql,) in rows}


def _create(folder: Path) -> None:
    """Create the file atomically, unless another process has just done so."""
    from filelock import FileLock

    path, partial = folder / FILE_NAME, folder / f"{FILE_NAME}.new"
    with FileLock(folder / f"{FILE_NAME}.lock", timeout=LOCK_SECONDS, mode=FILE_MODE):
        if path.exists() and path.stat().st_size:
            return
        for leftover in folder.glob(f"{FILE_NAME}*"):
            if leftover.suffix != ".lock":
                leftover.unlink()
        make_private(partial)
        with contextlib.closing(_connected(partial)) as db:
            for table in _TABLES:
                db.execute(table)
            db.execute("INSERT INTO counts VALUES (0, 0)")
            db.execute("PRAGMA journal_mode = WAL")
        partial.replace(path)
