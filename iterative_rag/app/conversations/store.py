"""Keeps conversations in one SQLite file of the data folder, which all doors and processes share.

The file is untrusted input: nothing in it is evaluated, its schema must be the one below, and each turn is validated
when it is read.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from iterative_rag.app.conversations.values import LAST, Conversation, ConversationListing, Turn, name_of, now
from iterative_rag.errors import CorpusError, CorpusHeld, CorpusMismatch, UsageError
from iterative_rag.settings import home
from iterative_rag.system.files import disk_full, is_full, make_private, private_folder, unwritable
from iterative_rag.text.control_characters import one_line, without_controls

_log = logging.getLogger(__name__)
T = TypeVar("T")

FILE_NAME = "conversations.sqlite"
# Raised where a change of the tables would mislead an older version.
SCHEMA = 1
LOCK_SECONDS = 10.0
_TABLES = (
    "CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT NOT NULL, created TEXT NOT NULL,"
    " updated TEXT NOT NULL)",
    "CREATE TABLE turns (conversation TEXT NOT NULL REFERENCES conversations ON DELETE CASCADE, n INTEGER NOT NULL,"
    " run TEXT NOT NULL, searched TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (conversation, n))",
)
_PRAGMAS = ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON", "secure_delete = ON")
_COLUMNS = (
    "c.id, c.name, c.created, c.updated, count(t.n),"
    " coalesce((SELECT searched FROM turns WHERE conversation = c.id ORDER BY n DESC LIMIT 1), '')"
)
_SEARCHED = "coalesce(group_concat(t.searched, char(10)), '')"


class ConversationStore:
    """The conversations below `folder` (by default the data folder); several processes and threads may use it at once:
    every call opens the file for itself.

    Raises UsageError for a name that is not there, CorpusHeld, DiskFull or another CorpusError where the file cannot be
    used.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or home() / "conversations") / FILE_NAME

    def listing(self, words: str = "") -> list[ConversationListing]:
        """The conversations, the newest first; with `words` those that have all of them in a name, question or
        answer."""
        wanted = words.casefold().split()
        # The texts of all turns are read only where something is looked for in them.
        rows = self._rows(f"{_COLUMNS}, {_SEARCHED}" if wanted else f"{_COLUMNS}, ''")
        return [_listed(row) for row in rows if all(word in f"{row[1]}\n{row[6]}".casefold() for word in wanted)]

    def load(self, name: str) -> Conversation:
        """The conversation of this name or id, or of the beginning of one; LAST for the newest. Raises UsageError."""
        return self._loaded(self._named(name))

    def find(self, name: str) -> Conversation | None:
        """As `load`; None where there is none. Raises UsageError where several begin alike."""
        listing = self._chosen(name)
        return self._loaded(listing) if listing else None

    def of_run(self, run_id: str) -> Conversation | None:
        """The conversation that this run belongs to."""
        rows = self._rows(_COLUMNS, "c.id IN (SELECT conversation FROM turns WHERE run = ?)", run_id)
        return self._loaded(_listed(rows[0])) if rows else None

    def keep(self, before: Conversation, name: str, turn: Turn) -> Conversation:
        """Append a turn, with those `before` it where the conversation is not kept yet; returns it as it is now.

        The turn follows those that another process has added meanwhile.
        """

        def write(db: sqlite3.Connection) -> Conversation:
            kept = before.id and db.execute("SELECT name FROM conversations WHERE id = ?", (before.id,)).fetchone()
            identity = before.id if kept else f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"
            called = kept[0] if kept else _free_name(db, name)
            if kept:
                db.execute("UPDATE conversations SET updated = ? WHERE id = ?", (turn.at, identity))
            else:
                values = (identity, called, before.created or turn.at, turn.at)
                db.execute("INSERT INTO conversations VALUES (?, ?, ?, ?)", values)
            latest = db.execute("SELECT coalesce(max(n), 0) FROM turns WHERE conversation = ?", (identity,)).fetchone()
            added = []
            for n, new in enumerate((turn,) if kept else (*before.turns, turn), start=latest[0] + 1):
                added.append(replace(new, n=n))
                row = (identity, n, new.answer.run_id, _searched(new), _adapter().dump_json(added[-1]).decode())
                db.execute("INSERT INTO turns VALUES (?, ?, ?, ?, ?)", row)
            turns = (*before.turns, *added) if kept else tuple(added)
            return Conversation(identity, called, before.created or turn.at, turn.at, turns)

        return self._change(write)

    def delete(self, name: str) -> None:
        """Delete a conversation. The traces of its runs stay (`iterative-rag history`)."""
        listing = self._named(name)
        self._change(lambda db: db.execute("DELETE FROM conversations WHERE id = ?", (listing.id,)))

    # --- which one ---------------------------------------------------------------------------

    def _rows(self, columns: str, where: str = "1", *values: str) -> list[Any]:
        """One row for each conversation, the newest first."""
        sql = (
            f"SELECT {columns} FROM conversations c LEFT JOIN turns t ON t.conversation = c.id WHERE {where}"
            " GROUP BY c.id ORDER BY c.updated DESC, c.rowid DESC"
        )
        return self._read(sql, *values)

    def _named(self, name: str) -> ConversationListing:
        if listing := self._chosen(name):
            return listing
        if name == LAST:
            raise UsageError("There is no conversation yet.", hint='Begin one: iterative-rag chat, or ask "Who ...?"')
        raise UsageError(
            f"There is no conversation {name!r}.", hint="List those there are: iterative-rag conversations"
        )

    def _chosen(self, name: str) -> ConversationListing | None:
        listed, wanted = self.listing(), name.strip().casefold()
        if wanted == LAST:
            return listed[0] if listed else None
        exact = [entry for entry in listed if wanted in (entry.id, entry.name.casefold())]
        begun = [entry for entry in listed if entry.id.startswith(wanted) or entry.name.casefold().startswith(wanted)]
        if exact or len(begun) == 1:
            return (exact or begun)[0]
        if begun and wanted:
            raise UsageError(
                f"{len(begun)} conversations begin with {name!r}.",
                hint=f"Name one by its id: {', '.join(entry.id for entry in begun[:3])}",
            )
        return None

    def _loaded(self, listed: ConversationListing) -> Conversation:
        sql = "SELECT n, body FROM turns WHERE conversation = ? ORDER BY n"
        turns = tuple(turn for n, body in self._read(sql, listed.id) if (turn := _turn(listed, n, body)) is not None)
        return Conversation(listed.id, listed.name, listed.created, listed.updated, turns)

    # --- the file ----------------------------------------------------------------------------

    def _read(self, sql: str, *values: str) -> list[Any]:
        """The rows of a query; none where there is no file yet."""
        if not self.path.exists():
            return []
        with self._opened() as db:
            return db.execute(sql, values).fetchall() if _has_tables(db) else []

    def _change(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """The result of `work`, in one transaction; the file is created where there is none."""
        try:
            private_folder(self.path.parent)
            make_private(self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error
        with self._opened() as db, db:  # commits, or rolls back
            db.execute("BEGIN IMMEDIATE")
            if not _has_tables(db):
                for statement in (*_TABLES, f"PRAGMA user_version = {SCHEMA}"):
                    db.execute(statement)
            return work(db)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        # Only a file that exists: one that sqlite makes would be readable by others.
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        try:
            with closing(sqlite3.connect(address, timeout=LOCK_SECONDS, isolation_level=None, uri=True)) as db:
                for pragma in _PRAGMAS:
                    db.execute(f"PRAGMA {pragma}")
                yield db
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise self._fault(error) from error

    def _fault(self, error: Exception) -> CorpusError:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            told = f"The conversations {self.path} are held by another process."
            return CorpusHeld(told, hint="Wait until it is done.")
        if code == sqlite3.SQLITE_FULL or is_full(self.path.parent):
            return disk_full(self.path)
        return CorpusError(
            f"The conversations {self.path} cannot be read or written: {error}.",
            hint="Check the disk; where the file is damaged, move it away, and new conversations are begun.",
        )


def _has_tables(db: sqlite3.Connection) -> bool:
    """False for a file that was just made. Raises CorpusMismatch for one of a newer version or of another program."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA:
        raise CorpusMismatch(
            f"The conversations were written by a newer version (schema {version}, this one knows {SCHEMA}).",
            hint="Update iterative-rag.",
        )
    tables = {row[0] for row in db.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    if version and tables != set(_TABLES):
        raise sqlite3.DatabaseError("it holds other tables than those of conversations")
    return bool(version)


def _listed(row: Any) -> ConversationListing:
    return ConversationListing(row[0], row[1], row[2], row[3], row[4], str(row[5]).partition("\n")[0])


def _free_name(db: sqlite3.Connection, name: str) -> str:
    """The name, with a number behind it where it is taken."""
    name = name_of(without_controls(name)) or now()
    taken = {row[0].casefold() for row in db.execute("SELECT name FROM conversations")} | {LAST}
    if name.casefold() not in taken:
        return name
    return next(numbered for n in range(2, len(taken) + 3) if (numbered := f"{name} ({n})").casefold() not in taken)


def _searched(turn: Turn) -> str:
    """What a search looks at, the question as it was typed in the first line."""
    answer = turn.answer
    lines = (turn.asked, answer.question, answer.short_answer, answer.text)
    return "\n".join(one_line(line) for line in lines)


def _turn(listed: ConversationListing, n: int, body: str) -> Turn | None:
    from pydantic import ValidationError

    try:
        return _adapter().validate_json(body)  # type: ignore[no-any-return]
    except ValidationError:
        _log.warning("Turn %d of the conversation %r cannot be read and is left out.", n, listed.name)
        return None


@cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Turn)
