"""The SQLite side of a corpus: its documents, what it was made with, and points that wait to be removed."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iterative_rag.files import has_no_room
from iterative_rag.private_files import make_private
from iterative_rag.types import Document

# To be raised when tables or payloads change, and when the chunker or BM25 would cut or weigh the same text otherwise.
SCHEMA_VERSION = 1
_BUSY_MILLISECONDS = 5000

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    id TEXT PRIMARY KEY,
    root TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    url TEXT,
    version TEXT NOT NULL,
    passages INTEGER NOT NULL,
    text BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS documents_root ON documents (root);
-- Where the pages of a document begin, as a JSON list of offsets: a corpus made before there were any lacks the table.
CREATE TABLE IF NOT EXISTS pages (document TEXT PRIMARY KEY, offsets TEXT NOT NULL) WITHOUT ROWID;
-- Points that no document owns: written before their document is, or left by an older version of it.
CREATE TABLE IF NOT EXISTS unowned (
    document TEXT NOT NULL,
    version TEXT NOT NULL,
    passages INTEGER NOT NULL,
    PRIMARY KEY (document, version)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Points:
    """The points of one version of a document: ordinals 0 to `passages` - 1."""

    document_id: str
    version: str
    passages: int


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """A document without its text: what tells it from the others."""

    id: str
    title: str
    url: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A document that is to be written, with the root it was found under."""

    document: Document
    root: str
    version: str
    passages: int


@dataclass(frozen=True, slots=True)
class Known:
    """Where a held document was found, and its content hash."""

    root: str
    source: str
    version: str


def version_of(document: Document) -> str:
    """The content hash that tells one version of a document from another."""
    digest = hashlib.sha256(document.title.encode())
    digest.update(b"\0")
    digest.update(document.text.encode())
    if document.pages:
        digest.update(b"\0" + json.dumps(document.pages).encode())
    return digest.hexdigest()[:32]


class DocumentStore:
    """One connection behind a lock: safe from several threads; other processes may read while one writes."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        if create:
            make_private(path)  # SQLite gives its -wal and -shm the mode of the database
        self._lock = threading.RLock()
        try:
            self._db = _connected(path, "mode=rwc" if create else "mode=rw")
        except sqlite3.OperationalError:
            if create or not _only_lacks_room(path):
                raise
            self._db = _connected(path, "mode=ro&immutable=1")
        if create:
            self._db.executescript(_SCHEMA)

    def close(self) -> None:
        with self._lock:
            self._db.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is written inside."""
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    # --- meta ---

    def meta(self) -> dict[str, str]:
        return dict(self._all("SELECT key, value FROM meta"))

    def set_meta(self, values: Mapping[str, str]) -> None:
        with self._lock:
            self._db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", list(values.items()))

    def identity(self) -> str:
        """Names this corpus and no other, also after it was made anew; "" before it is made."""
        meta = self.meta()
        return meta.get("identity") or meta.get("created", "")

    def in_step(self) -> dict[str, str]:
        """The places whose vectors are those of the documents, each with the address by which it was last used."""
        meta = self.meta()
        kept: dict[str, str] = json.loads(meta["places"]) if "places" in meta else {"local": "local"}
        return kept

    def set_in_step(self, places: Mapping[str, str]) -> None:
        self.set_meta({"places": json.dumps(dict(places))})

    def check(self) -> None:
        """Raises sqlite3.DatabaseError when the file is not a whole database."""
        result = self._all("PRAGMA quick_check(1)")[0][0]
        if result != "ok":
            error = sqlite3.DatabaseError(result)
            error.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise error

    def clear(self) -> None:
        """Empty tables of this version, whatever there was; to be called inside a transaction."""
        with self._lock:
            for table in ("documents", "pages", "unowned", "meta"):
                self._db.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)

    # --- reading ---

    def document(self, document_id: str) -> Document | None:
        rows = self._all("SELECT title, text, source, url FROM documents WHERE id = ?", (document_id,))
        for title, text, source, url in rows:
            return Document(document_id, title, zlib.decompress(text).decode(), source, url, self._pages(document_id))
        return None

    def _pages(self, document_id: str) -> tuple[int, ...]:
        if not self._all("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'pages'"):
            return ()
        rows = self._all("SELECT offsets FROM pages WHERE document = ?", (document_id,))
        return tuple(json.loads(rows[0][0])) if rows else ()

    def versions(self, ids: Iterable[str]) -> dict[str, tuple[str, str]]:
        """id -> (version, title) of those that exist."""
        found: dict[str, tuple[str, str]] = {}
        for part in _parts(ids):
            marks = ",".join("?" * len(part))
            rows = self._all(f"SELECT id, version, title FROM documents WHERE id IN ({marks})", tuple(part))
            found |= {row[0]: (row[1], row[2]) for row in rows}
        return found

    def titles(self) -> list[tuple[str, str]]:
        """(id, title) of all documents, by title."""
        return [(row[0], row[1]) for row in self._all("SELECT id, title FROM documents ORDER BY title, id")]

    def catalogue(self) -> list[CatalogueEntry]:
        """All documents without their texts, by title."""
        return [CatalogueEntry(*row) for row in self._all("SELECT id, title, url, source FROM documents ORDER BY 2, 1")]

    def points(self, ids: Iterable[str]) -> list[Points]:
        """The points of the current versions of those documents that exist."""
        found: list[Points] = []
        for part in _parts(ids):
            marks = ",".join("?" * len(part))
            rows = self._all(f"SELECT id, version, passages FROM documents WHERE id IN ({marks})", tuple(part))
            found += [Points(*row) for row in rows]
        return found

    def all_points(self) -> list[Points]:
        """The points of the current versions of all documents."""
        return [Points(*row) for row in self._all("SELECT id, version, passages FROM documents ORDER BY id")]

    def digest(self) -> str:
        """A hash of what all documents hold, the same wherever and whenever they were indexed."""
        digest = hashlib.sha256()
        for (version,) in self._all("SELECT version FROM documents ORDER BY version"):
            digest.update(version.encode())
        return digest.hexdigest()[:32]

    def counts(self) -> tuple[int, int]:
        """How many documents and passages there are."""
        row = self._all("SELECT count(*), coalesce(sum(passages), 0) FROM documents")[0]
        return int(row[0]), int(row[1])

    def known(self, document_id: str) -> Known | None:
        """Where and in which version a document is held; None if it is not."""
        rows = self._all("SELECT root, source, version FROM documents WHERE id = ?", (document_id,))
        return Known(*rows[0]) if rows else None

    def roots(self) -> set[str]:
        return {row[0] for row in self._all("SELECT DISTINCT root FROM documents")}

    def ids_under(self, root: str) -> list[str]:
        return [row[0] for row in self._all("SELECT id FROM documents WHERE root = ?", (root,))]

    def versions_by_root(self) -> dict[str, dict[str, str]]:
        """The content hash of every document, by the root that it was found under."""
        found: dict[str, dict[str, str]] = {}
        for root, document_id, version in self._all("SELECT root, id, version FROM documents"):
            found.setdefault(root, {})[document_id] = version
        return found

    def unowned(self) -> list[Points]:
        return [Points(*row) for row in self._all("SELECT document, version, passages FROM unowned")]

    # --- writing (inside a transaction where several belong together) ---

    def put(self, entry: Entry) -> None:
        """Make this the current version; the one before becomes unowned, the new one's points are owned."""
        document = entry.document
        self._disown([document.id])
        with self._lock:
            self._db.execute(
                "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    document.id,
                    entry.root,
                    document.source,
                    document.title,
                    document.url,
                    entry.version,
                    entry.passages,
                    zlib.compress(document.text.encode(), 6),
                ),
            )
            self._db.execute("DELETE FROM pages WHERE document = ?", (document.id,))
            if document.pages:
                self._db.execute("INSERT INTO pages VALUES (?, ?)", (document.id, json.dumps(document.pages)))
            self._db.execute("DELETE FROM unowned WHERE document = ? AND version = ?", (document.id, entry.version))

    def move(self, document_id: str, source: str) -> None:
        """The same document was found at another place."""
        with self._lock:
            self._db.execute("UPDATE documents SET source = ? WHERE id = ?", (source, document_id))

    def remove(self, ids: Iterable[str]) -> None:
        ids = list(ids)
        self._disown(ids)
        with self._lock:
            self._db.executemany("DELETE FROM documents WHERE id = ?", [(one,) for one in ids])
            self._db.executemany("DELETE FROM pages WHERE document = ?", [(one,) for one in ids])

    def add_unowned(self, points: Iterable[Points]) -> None:
        rows = [(one.document_id, one.version, one.passages) for one in points]
        with self._lock:
            self._db.executemany("INSERT OR REPLACE INTO unowned VALUES (?, ?, ?)", rows)

    def forget_unowned(self, points: Iterable[Points]) -> None:
        rows = [(one.document_id, one.version) for one in points]
        with self._lock:
            self._db.executemany("DELETE FROM unowned WHERE document = ? AND version = ?", rows)

    def _disown(self, ids: Iterable[str]) -> None:
        with self._lock:
            self._db.executemany(
                "INSERT OR REPLACE INTO unowned SELECT id, version, passages FROM documents WHERE id = ?",
                [(one,) for one in ids],
            )

    def _all(self, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()


def _connected(path: Path, options: str) -> sqlite3.Connection:
    database = sqlite3.connect(
        f"{path.absolute().as_uri()}?{options}", uri=True, check_same_thread=False, isolation_level=None
    )
    try:
        database.execute(f"PRAGMA busy_timeout={_BUSY_MILLISECONDS}")
        if "immutable" not in options:
            database.execute("PRAGMA journal_mode=WAL")
            database.execute("PRAGMA synchronous=NORMAL")
    except sqlite3.Error:
        database.close()
        raise
    return database


def _only_lacks_room(path: Path) -> bool:
    """Whether the database can be read as it lies there: a reader needs room for SQLite's index of the write-ahead log,
    and on a full disk nobody writes. Where the log holds something it cannot be left out."""
    log = path.with_name(f"{path.name}-wal")
    return has_no_room(path.parent) and not (log.exists() and log.stat().st_size)


def _parts(ids: Iterable[str], size: int = 500) -> Iterator[list[str]]:
    """Each id once, in lists that one SQL statement takes."""
    wanted = list(dict.fromkeys(ids))
    return (wanted[low : low + size] for low in range(0, len(wanted), size))
