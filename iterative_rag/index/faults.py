"""SQLite's errors as CorpusErrors with a hint."""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusHeld

# Left in a corpus folder by a reader that found damage which loading alone does not show.
DAMAGE_MARK = "damaged"


def mending_command(name: str, folder: Path | None = None) -> str:
    """What to type when the index of a corpus must be made anew, with its paths where the database still says them."""
    paths = " ".join(map(shlex.quote, _roots(folder))) if folder else ""
    return f"iterative-rag index {paths or 'PATH'} --corpus {name}"


def _roots(folder: Path) -> list[str]:
    uri = f"{(folder / 'documents.sqlite').absolute().as_uri()}?mode=ro"
    with suppress(sqlite3.Error), closing(sqlite3.connect(uri, uri=True)) as database:
        return [row[0] for row in database.execute("SELECT DISTINCT root FROM documents ORDER BY root LIMIT 20")]
    return []


def disk_full(path: Path) -> CorpusError:
    return CorpusError(
        f"The disk of {path} is full.", hint="Make room and run the same command again: it goes on where it stopped."
    )


def damaged(folder: Path, name: str, reason: object) -> CorpusDamaged:
    return CorpusDamaged(
        f"The index of the corpus {name!r} at {folder} is damaged: {str(reason).rstrip('.')}.",
        hint=f"Make it anew: {mending_command(name, folder)}",
    )


@contextmanager
def sqlite_errors(folder: Path, name: str) -> Iterator[None]:
    """Raises CorpusHeld, CorpusDamaged or a CorpusError for a full disk instead of SQLite's and Edge's own."""
    try:
        yield
    except CorpusDamaged as error:
        raise error if error.hint else damaged(folder, name, error) from error
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise CorpusHeld(
                f"The corpus {name!r} is held by another process.", hint="Wait until it is done."
            ) from error
        if code == sqlite3.SQLITE_FULL:
            raise disk_full(folder) from error
        raise damaged(folder, name, error) from error
