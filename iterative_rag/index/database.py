"""The SQLite file of a corpus: versions of documents, the generations published so far, and points to be removed.

A row is valid from generation `since` until generation `until`; what is written belongs to the generation after the
newest, and is shown to readers by the one transaction that publishes it. Readers open the file read-only and neither
wait for a writer nor stop it (write-ahead logging).
"""

from __future__ import annotations

import dataclasses
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iterative_rag.index.catalogue import (
    COMMITTED,
    SCHEMA_VERSION,
    DocumentEntry,
    DocumentView,
    Generation,
    Points,
    metadata_as_text,
)
from iterative_rag.system.files import is_full, json_value, make_private
from iterative_rag.types import Metadata

# SQLite waits milliseconds for its own locks, longer on an overloaded machine.
_BUSY_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    id TEXT NOT NULL,
    since INTEGER NOT NULL,
    until INTEGER,
    root TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT,
    version TEXT NOT NULL,
    content TEXT NOT NULL,
    language TEXT NOT NULL,
    passages INTEGER NOT NULL,
    pages TEXT,
    text BLOB NOT NULL,
    metadata TEXT,
    PRIMARY KEY (id, since)
);
CREATE INDEX IF NOT EXISTS documents_root ON documents (root);
CREATE INDEX IF NOT EXISTS documents_since ON documents (since);
CREATE INDEX IF NOT EXISTS documents_until ON documents (until) WHERE until IS NOT NULL;
CREATE TABLE IF NOT EXISTS generations (number INTEGER PRIMARY KEY, facts TEXT NOT NULL);
-- Points that no document owns: written before their document is, or left by an older version of it.
CREATE TABLE IF NOT EXISTS unowned (
    document TEXT NOT NULL,
    version TEXT NOT NULL,
    passages INTEGER NOT NULL,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
"""


class DocumentStore:
    """One connection behind a lock: safe for several threads; other processes may read while one writes."""

    def __init__(self, path: Path, *, write: bool = False) -> None:
        """`write` creates the file if there is none."""
        if write:
            make_private(path)  # SQLite gives its -wal and -shm the mode of the database
        self._lock = threading.RLock()
        self._writes = write
        try:
            self._db = _connected(path, "mode=rwc" if write else "mode=ro")
        except sqlite3.OperationalError:
            if write or not _stands_alone(path):
                raise
            self._db = _connected(path, "mode=ro&immutable=1")
        if write and not self.is_of_another_version():
            self._db.executescript(_SCHEMA)

    def is_of_another_version(self) -> bool:
        """Whether another schema version made the tables; False where nobody came to make them."""
        columns = {row[1] for row in self._run("PRAGMA table_info(documents)")}
        made_by = "" if "content" not in columns else self.meta().get("schema", str(SCHEMA_VERSION))
        return bool(columns) and made_by != str(SCHEMA_VERSION)

    def close(self) -> None:
        with self._lock:
            if self._writes:
                # Merge the log into the file: a reader without write permission needs nothing else then.
                self._db.execute("PRAGMA busy_timeout=1000")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction; a nested one joins the outer one."""
        with self._lock:
            if self._db.in_transaction:
                yield
                return
            with self._db:  # commits, or rolls back after a fault
                self._db.execute("BEGIN IMMEDIATE")
                yield

    def check(self) -> None:
        """Raises sqlite3.DatabaseError if the database is damaged."""
        result = self._run("PRAGMA quick_check(1)")[0][0]
        if result != "ok":
            raise _damage(result)

    # --- meta ---

    def meta(self) -> dict[str, str]:
        return dict(self._run("SELECT key, value FROM meta"))

    def set_meta(self, values: Mapping[str, str]) -> None:
        with self._lock:
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def identity(self) -> str:
        """A unique id of this corpus, which survives rebuilding; "" before it exists."""
        return self.meta().get("identity", "")

    def place(self) -> tuple[str, str]:
        """Where the vectors that match the documents are kept: the name of the place, and what is typed for it."""
        meta = self.meta()
        return meta.get("place", "local"), meta.get("option", "local")

    # --- generations ---

    def newest(self) -> Generation | None:
        """The newest generation; None if nothing has been published."""
        for number, facts in self._run("SELECT number, facts FROM generations ORDER BY number DESC LIMIT 1"):
            try:
                held = json_value(facts)
                strangers = tuple(Points(*stranger) for stranger in held.pop("strangers"))
                return Generation(number, strangers=strangers, **held)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise _damage(f"what is published cannot be read: {error}") from error
        return None

    def number(self) -> int:
        """The number of the newest generation, 0 for none."""
        return int(self._run("SELECT coalesce(max(number), 0) FROM generations")[0][0])

    def view(self, number: int = COMMITTED) -> DocumentView:
        return DocumentView(self._run, number)

    def unpublished(self) -> bool:
        """Whether documents were written or removed since the newest generation."""
        now = self.number()
        return any(self._run(f"SELECT 1 FROM documents WHERE {end} > ? LIMIT 1", (now,)) for end in ("since", "until"))

    def publish(self, generation: Generation) -> None:
        facts = dataclasses.asdict(generation)
        del facts["number"]
        facts["strangers"] = [dataclasses.astuple(stranger) for stranger in generation.strangers]
        self._run("INSERT INTO generations VALUES (?, ?)", (generation.number, json.dumps(facts)))

    def forget_before(self, oldest: int) -> None:
        """Remove document versions that only generations before `oldest` show."""
        with self.transaction():
            self._db.execute("DELETE FROM documents WHERE until <= ?", (oldest,))
            self._db.execute("DELETE FROM generations WHERE number < ?", (oldest,))

    def roll_back(self) -> None:
        """Return to the newest generation, because the points written since are lost."""
        now = self.number()
        with self.transaction():
            self._db.execute("DELETE FROM documents WHERE since > ?", (now,))
            self._db.execute("UPDATE documents SET until = NULL WHERE until > ?", (now,))
            self._db.execute("DELETE FROM unowned")

    # --- writing (inside a transaction where several belong together) ---

    def roots(self) -> set[str]:
        return {row[0] for row in self._run("SELECT DISTINCT root FROM documents")}

    def unowned(self) -> list[Points]:
        return [Points(*row) for row in self._run("SELECT document, version, passages FROM unowned")]

    def clear(self) -> None:
        """Remove all documents as of the next generation, and what is said about the corpus."""
        with self.transaction():
            self._end("1")
            self._db.execute("DELETE FROM unowned")
            self._db.execute("DELETE FROM meta")

    def put(self, entry: DocumentEntry) -> None:
        """Make this the current version: its points become owned, those of the previous version unowned."""
        document, version = entry.document, entry.version
        self.remove([document.id])
        found = entry.root, document.source, document.title, document.url
        points = version.name, version.content, version.language, entry.passages
        pages = json.dumps(document.pages) if document.pages else None
        text = zlib.compress(document.text.encode(), 6)
        row = (document.id, self.number() + 1, *found, *points, pages, text, metadata_as_text(document.metadata))
        with self._lock:
            self._db.execute("INSERT INTO documents VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
            self._db.execute("DELETE FROM unowned WHERE document = ? AND version = ?", (document.id, version.name))

    def redescribe(self, document_id: str, source: str, metadata: Metadata) -> None:
        """Record that the same document was found at another place, or with other metadata."""
        change = "UPDATE documents SET source = ?, metadata = ? WHERE id = ? AND until IS NULL"
        self._run(change, (source, metadata_as_text(metadata), document_id))

    def remove(self, ids: Iterable[str]) -> None:
        """Remove documents as of the next generation; their points become unowned."""
        current = "SELECT id, version, passages FROM documents WHERE id = ? AND until IS NULL"
        for document_id in ids:
            with self._lock:
                self._db.execute(f"INSERT OR REPLACE INTO unowned {current}", (document_id,))
                self._end("id = ?", (document_id,))

    def _end(self, where: str, values: tuple[object, ...] = ()) -> None:
        """End the current rows with the newest generation; delete rows that no generation shows."""
        now = self.number()
        with self._lock:
            self._db.execute(f"DELETE FROM documents WHERE {where} AND since > {now:d}", values)
            self._db.execute(f"UPDATE documents SET until = {now + 1:d} WHERE {where} AND until IS NULL", values)

    def add_unowned(self, points: Iterable[Points]) -> None:
        rows = [(group.document_id, group.version, group.passages) for group in points]
        with self._lock:
            self._db.executemany("INSERT OR REPLACE INTO unowned VALUES (?, ?, ?)", rows)

    def forget_unowned(self, points: Iterable[Points]) -> None:
        rows = [(group.document_id, group.version) for group in points]
        with self._lock:
            self._db.executemany("DELETE FROM unowned WHERE document = ? AND version = ?", rows)

    def _run(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()


def _connected(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?{options}"
    database = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, check_same_thread=False, isolation_level=None)
    try:
        if "rwc" in options:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
        database.execute("PRAGMA schema_version").fetchone()  # unreadable databases are reported here
    except sqlite3.Error:
        database.close()
        raise
    return database


def _stands_alone(path: Path) -> bool:
    """Whether the database can be read as it lies there. A reader makes an index of the write-ahead log beside it, for
    which there is no room on a full disk, and no permission in a folder of somebody else; where the log holds
    something it cannot be left out."""
    log = path.with_name(f"{path.name}-wal")
    alone = not os.access(path.parent, os.W_OK) or is_full(path.parent)
    return alone and not (log.exists() and log.stat().st_size)


def _damage(what: str) -> sqlite3.DatabaseError:
    error = sqlite3.DatabaseError(what)
    error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return error
