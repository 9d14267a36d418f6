"""Maps SQLite's errors to CorpusErrors with a hint, and distinguishes a full disk from damage."""

from __future__ import annotations

import json
import shlex
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusHeld, CorpusNotFound, DiskFull
from iterative_rag.protocols import GIVEN
from iterative_rag.system.files import CORPUS_DATABASE, disk_full, is_disk_full, is_full, refusal

# A file left in a corpus folder by a reader that found damage which loading does not reveal.
DAMAGE_MARK = "damaged"
# Bytes that must be free before a batch is written. Edge maps its files into memory: on a full disk the system would
# kill the process instead of reporting an error.
FREE_BYTES = 128 * 1024 * 1024
_ROOTS_SHOWN = 20
_LACKING = ("no such table", "no such column", "could not decode")


def proves_damage(error: sqlite3.Error) -> bool:
    """Whether the contents are not a whole database of ours; all else tells of the disk or the system."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_ERROR:
        return any(lacking in str(error).lower() for lacking in _LACKING)
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def rebuild_command(name: str, folder: Path | None = None) -> str:
    """The command that rebuilds the index of a corpus, with its paths if the database can still be read; the call in
    Python for documents that were given there."""
    roots = roots_of(folder)[:_ROOTS_SHOWN] if folder else []
    if GIVEN in roots:
        return f"IterativeRAG.index(documents, corpus={name!r}, replace=True)"
    paths = " ".join(map(shlex.quote, roots))
    return f"iterative-rag index {paths or 'PATH'} --corpus {shlex.quote(name)}"


def roots_of(folder: Path) -> list[str]:
    """The files and folders that a corpus was indexed from; none where there is no corpus that can be read."""
    uri = f"{(folder / CORPUS_DATABASE).absolute().as_uri()}?mode=ro"
    with suppress(sqlite3.Error, UnicodeDecodeError), closing(sqlite3.connect(uri, uri=True)) as database:
        return [row[0] for row in database.execute("SELECT DISTINCT root FROM documents ORDER BY root")]
    return []


def index_disk_full(path: Path) -> DiskFull:
    return disk_full(path, FREE_BYTES)


def damaged(folder: Path, name: str, reason: object) -> CorpusError:
    """CorpusDamaged; CorpusNotFound where the corpus was removed while it was read."""
    if not folder.exists():
        return CorpusNotFound(f"The corpus {name!r} was removed.", hint="List those there are: iterative-rag corpus")
    with suppress(OSError):  # without write permission no note can be left for `index`, which may not come upon it
        (folder / DAMAGE_MARK).touch()
    message = f"The index of the corpus {name!r} at {folder} is damaged: {str(reason).rstrip('.')}."
    return CorpusDamaged(message, hint=f"Make it anew: {rebuild_command(name, folder)}")


@contextmanager
def sqlite_errors(folder: Path, name: str) -> Iterator[None]:
    """Raises CorpusHeld, CorpusDamaged, DiskFull or another CorpusError instead of SQLite's and the system's own."""
    try:
        yield
    except (OSError, MemoryError, RuntimeError) as error:
        if is_disk_full(error):
            raise index_disk_full(folder) from error
        if (named := refusal(error, folder)) is None:
            raise
        raise named from error
    except CorpusDamaged as error:
        if error.hint:
            raise
        raise damaged(folder, name, error) from error
    except (zlib.error, UnicodeDecodeError, json.JSONDecodeError) as error:  # compressed texts; values that are JSON
        raise damaged(folder, name, error) from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            message = f"The corpus {name!r} is held by another process."
            raise CorpusHeld(message, hint="Wait until it is done.") from error
        if proves_damage(error):
            raise damaged(folder, name, error) from error
        # An "I/O error" may be a full disk, too: SQLite says so only where it was told while it wrote.
        if code == sqlite3.SQLITE_FULL or is_full(folder):
            raise index_disk_full(folder) from error
        message = f"The corpus {name!r} at {folder} cannot be read or written: {error}."
        raise CorpusError(message, hint="Check the disk and the system log.") from error
