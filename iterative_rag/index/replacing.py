"""How a corpus is locked, emptied and removed: one writer at a time. Readers need no lock, for what they read stays."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from iterative_rag.errors import CorpusHeld
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.sqlite_errors import DAMAGE_MARK, index_disk_full, proves_damage
from iterative_rag.index.vector_store import VECTORS
from iterative_rag.system.files import CORPUS_DATABASE, is_disk_full, open_private, private_folder, readable, unwritable

WAIT_SECONDS = 1.5
_POLL_SECONDS = 0.02


@contextmanager
def writing(folder: Path, name: str) -> Iterator[None]:
    """Hold the lock of a corpus, a file that the system unlocks when the process dies, with one beside it that names
    the holder. Not reentrant. Raises CorpusHeld when another writer has held it for WAIT_SECONDS."""
    from filelock import FileLock, Timeout

    locks = folder / "locks"
    holder = locks / "writer.json"
    lock = FileLock(locks / "writer.lock", thread_local=False, mode=0o600)
    try:
        private_folder(locks)
        lock.acquire(timeout=WAIT_SECONDS, poll_interval=_POLL_SECONDS)
    except Timeout as error:
        raise _held(holder, name) from error
    except OSError as error:
        if is_disk_full(error):
            raise index_disk_full(folder) from error
        raise unwritable(locks, error) from error
    try:
        # On a full disk the lock still works; only the name of the holder is missing.
        with suppress(OSError), open_private(holder) as file:
            command = " ".join([Path(sys.argv[0]).name, *sys.argv[1:]])[:200]
            json.dump({"pid": os.getpid(), "command": command}, file)
        yield
    finally:
        with suppress(OSError):
            holder.unlink()
        lock.release()


def _held(holder: Path, name: str) -> CorpusHeld:
    try:
        told = json.loads(readable(holder).read_text(encoding="utf-8"))
        who = f"process {int(told['pid'])} ({told['command']})"
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        who = "another process"
    message = f"The corpus {name!r} is being written by {who}."
    return CorpusHeld(message, hint="Wait until it is done; asking and searching go on meanwhile.")


def unusable(database: Path) -> str:
    """Why nothing can be written to a database, which is only read: "" where it can, or there is none. Raises
    sqlite3.Error and OSError where the system does not let it be read."""
    if not database.is_file() or not database.stat().st_size:
        return ""
    try:
        with closing(DocumentStore(database)) as store:
            store.check()
            store.newest()
            return "another version of iterative-rag made it" if store.is_of_another_version() else ""
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        if isinstance(error, sqlite3.DatabaseError) and not proves_damage(error):
            raise
        return f"its database is damaged: {error}"


def discard(folder: Path) -> None:
    """Remove a corpus that is `unusable`, its database last: while that is there, the next run goes on."""
    shutil.rmtree(folder / VECTORS, ignore_errors=True)
    for name in (DAMAGE_MARK, f"{CORPUS_DATABASE}-wal", f"{CORPUS_DATABASE}-shm", CORPUS_DATABASE):
        (folder / name).unlink(missing_ok=True)


@contextmanager
def removing(folder: Path) -> Iterator[None]:
    """Take a corpus away in one step. What it has elsewhere is removed inside: if that fails, it is there again."""
    if os.name == "nt":  # a folder that holds an open file, that of the lock, cannot be renamed there
        yield
        _clear(folder)
        return
    aside = folder.with_name(f".removed-{uuid.uuid4().hex}")
    folder.rename(aside)
    try:
        yield
    except BaseException:
        aside.rename(folder)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def discard_if_empty(folder: Path) -> None:
    """Remove a corpus that stayed empty, so that the next `ask` does not choose it: it has no document, no part of one,
    and none was published before. One that cannot be read is kept."""
    with suppress(sqlite3.DatabaseError, OSError):
        with closing(DocumentStore(folder / CORPUS_DATABASE)) as store:
            published, begun = store.newest(), "created" in store.meta() and store.unowned()
            empty = not (published and published.documents) and not store.view().counts()[0] and not begun
        if empty:
            _clear(folder)


def _clear(folder: Path) -> None:
    """Remove all but the locks, which are held."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "locks":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()
