"""Keeps conversations in one SQLite file of the data folder, which all doors and processes share.

The file is untrusted input: nothing in it is evaluated, its schema must be the one below, and each turn is validated
when it is read. A damaged file is set aside, so that nothing of it is lost, and a new one is begun.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from iterative_rag.app.conversations.conversation_file import ConversationFile
from iterative_rag.app.conversations.values import (
    LAST,
    Conversation,
    ConversationListing,
    Turn,
    clean_name,
    name_of,
    now,
)
from iterative_rag.errors import UsageError
from iterative_rag.settings import home
from iterative_rag.text.control_characters import one_line, without_controls

_log = logging.getLogger(__name__)

_COLUMNS = (
    "c.id, c.name, c.created, c.updated, count(t.n),"
    " coalesce((SELECT searched FROM turns WHERE conversation = c.id ORDER BY n DESC LIMIT 1), '')"
)
_SEARCHED = "coalesce(group_concat(t.searched, char(10)), '')"


class ConversationStore:
    """The conversations below `folder` (by default the data folder); several processes and threads may use it at once.

    Raises UsageError for a name that is not there, CorpusHeld, DiskFull or another CorpusError where the file cannot be
    used.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = ConversationFile(folder or home() / "conversations")

    @property
    def path(self) -> Path:
        return self._file.path

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

        return self._file.change(write)

    def rename(self, name: str, new: str) -> ConversationListing:
        """Give a conversation another name. Raises UsageError where another one has it."""
        listing, wanted = self._named(name), clean_name(new)

        def write(db: sqlite3.Connection) -> None:
            taken = db.execute("SELECT id FROM conversations WHERE name = ? COLLATE NOCASE", (wanted,)).fetchone()
            if taken and taken[0] != listing.id:
                raise UsageError(f"There is a conversation {wanted!r} already.", hint="Choose another name.")
            db.execute("UPDATE conversations SET name = ? WHERE id = ?", (wanted, listing.id))

        self._file.change(write)
        return listing

    def delete(self, name: str) -> ConversationListing:
        """Delete a conversation; returns what was deleted. The traces of its runs stay (`iterative-rag history`)."""
        listing = self._named(name)
        self._file.change(lambda db: db.execute("DELETE FROM conversations WHERE id = ?", (listing.id,)))
        return listing

    # --- which one ---------------------------------------------------------------------------

    def _rows(self, columns: str, where: str = "1", *values: str) -> list[Any]:
        """One row for each conversation, the newest first."""
        sql = (
            f"SELECT {columns} FROM conversations c LEFT JOIN turns t ON t.conversation = c.id WHERE {where}"
            " GROUP BY c.id ORDER BY c.updated DESC, c.rowid DESC"
        )
        return self._file.read(lambda db: db.execute(sql, values).fetchall(), [])

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
        rows: list[Any] = self._file.read(lambda db: db.execute(sql, (listed.id,)).fetchall(), [])
        turns = tuple(turn for n, body in rows if (turn := _turn(listed, n, body)) is not None)
        return Conversation(listed.id, listed.name, listed.created, listed.updated, turns)


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
