"""The SQLite file of the conversations: created privately, shared by processes, set aside where it is damaged."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from iterative_rag.errors import CorpusError, CorpusHeld, CorpusMismatch
from iterative_rag.system.files import disk_full, is_disk_full, is_full, unwritable
from iterative_rag.system.private_files import FILE_MODE, make_private, private_folder

FILE_NAME = "conversations.sqlite"
# Raised where a change of the tables would mislead an older version.
SCHEMA = 1
LOCK_SECONDS = 10.0
_ATTEMPTS = 3
_log = logging.getLogger(__name__)
T = TypeVar("T")

_TABLES = (
    "CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT NOT NULL, created TEXT NOT NULL,"
    " updated TEXT NOT NULL)",
    "CREATE TABLE turns (conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE, n INTEGER NOT NULL,"
    " run TEXT NOT NULL, searched TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (conversation, n))",
)
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_MISMATCH)


class _Foreign(sqlite3.DatabaseError):
    """The file holds other tables than those of this store."""


class _SetAside(Exception):
    """A damaged file was moved away."""


class ConversationFile:
    """Every call opens the file for itself, so that several processes and threads may use it at once.

    Raises CorpusHeld, DiskFull or another CorpusError where it cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME

    def read(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """The result of `work`; `otherwise` where there is no file, or only a damaged one."""
        return self._repeated(lambda: self._opened(work) if self.path.exists() else otherwise)

    def change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`, in one transaction; the file is created where there is none."""

        def changed(db: sqlite3.Connection) -> T:
            with db:  # commits, or rolls back
                db.execute("BEGIN IMMEDIATE")
                return work(db)

        def attempt() -> T:
            self._create()
            return self._opened(changed)

        return self._repeated(attempt)

    def _repeated(self, attempt: Callable[[], T]) -> T:
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(_SetAside):
                return attempt()
        raise CorpusError(
            f"{self.path} is damaged as soon as it is begun anew.",
            hint="Check the disk, or move the folder: ITERATIVE_RAG_HOME names another one.",
        )

    def _opened(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work` with the open file. Raises _SetAside where it was damaged, or another process has just
        moved it away."""
        try:
            with contextlib.closing(self._connected(self.path)) as db:
                _check(db)
                return work(db)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not self.path.exists():
                raise _SetAside from error
            if not _is_damage(error):
                raise self._named_error(error) from error
            self._set_aside(error)
            raise _SetAside from error
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _connected(self, path: Path) -> sqlite3.Connection:
        # Only a file that exists: one that sqlite makes would be readable by others and empty.
        address = f"{path.absolute().as_uri()}?mode=rw"
        db = sqlite3.connect(address, timeout=LOCK_SECONDS, isolation_level=None, uri=True)
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON", "secure_delete = ON"):
            db.execute(f"PRAGMA {pragma}")
        return db

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """While one process creates the file or moves it away, others wait."""
        from filelock import FileLock

        try:
            private_folder(self.folder)
            with FileLock(self.folder / ".lock", timeout=LOCK_SECONDS, mode=FILE_MODE):
                yield
        except sqlite3.DatabaseError as error:
            raise self._named_error(error) from error
        except OSError as error:
            raise unwritable(self.path, error) from error

    def _create(self) -> None:
        """Create the file atomically, unless another process has just done so."""
        if self.path.exists():
            return
        partial = self.folder / f"{FILE_NAME}.new"
        with self._locked():
            if self.path.exists():
                return
            partial.unlink(missing_ok=True)
            make_private(partial)
            with contextlib.closing(self._connected(partial)) as db:
                for table in _TABLES:
                    db.execute(table)
                db.execute(f"PRAGMA user_version = {SCHEMA}")
                db.execute("PRAGMA journal_mode = WAL")
            partial.replace(self.path)

    def _set_aside(self, error: Exception) -> None:
        """Move the damaged file away, unless another process has done so."""
        aside = self.path.with_name(f"{FILE_NAME}.damaged-{time.strftime('%Y%m%d-%H%M%S')}")
        with self._locked():
            if not self._still_damaged():
                return
            for ending in ("-wal", "-shm", ""):
                with contextlib.suppress(FileNotFoundError):
                    Path(f"{self.path}{ending}").rename(f"{aside}{ending}")
        _log.warning("The conversations are damaged (%s): set aside as %s, new ones are begun.", error, aside)

    def _still_damaged(self) -> bool:
        try:
            with contextlib.closing(self._connected(self.path)) as db:
                _check(db)
                (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
                return bool(said != "ok")
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            return _is_damage(error)

    def _named_error(self, error: Exception) -> CorpusError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return CorpusHeld(
                f"The conversations {self.path} are held by another process.", hint="Wait until it is done."
            )
        if code == sqlite3.SQLITE_FULL or is_disk_full(error) or is_full(self.folder):
            return disk_full(self.path)
        return CorpusError(
            f"The conversations {self.path} cannot be read or written: {error}.", hint="Check the folder and the disk."
        )


def _check(db: sqlite3.Connection) -> None:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA:
        raise CorpusMismatch(
            f"The conversations were written by a newer version (schema {version}, this one knows {SCHEMA}).",
            hint="Update iterative-rag.",
        )
    tables = {row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if tables != set(_TABLES):
        raise _Foreign("it holds other tables than those of conversations")


def _is_damage(error: Exception) -> bool:
    if isinstance(error, _Foreign | UnicodeDecodeError):
        return True
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    return code == sqlite3.SQLITE_IOERR_SHORT_READ or code & 0xFF in _DAMAGE
