"""The folder of corpora: list, describe, open, write, remove."""

from __future__ import annotations

import contextlib
import difflib
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusMismatch, CorpusNotFound, UsageError
from iterative_rag.index.documents import SCHEMA_VERSION, DocumentStore
from iterative_rag.index.faults import DAMAGE_MARK, damaged, mending_command, sqlite_errors
from iterative_rag.index.indexed_corpus import IndexedCorpus
from iterative_rag.index.lock import CorpusLock
from iterative_rag.index.writer import Chunking, CorpusWriter
from iterative_rag.protocols import Cache, Embedder

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,99}")
_DATABASE = "documents.sqlite"


@dataclass(frozen=True, slots=True)
class CorpusInfo:
    """`state` is "ready", "incomplete" (indexing goes on or was interrupted) or "damaged"; `updated` is ISO 8601."""

    name: str
    documents: int
    passages: int
    embedder: str
    bytes: int
    updated: str
    state: str


class Corpora:
    """One folder a corpus under `root`: documents.sqlite, vectors/ and locks/."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def names(self) -> list[str]:
        """All corpora, sorted; also damaged ones."""
        try:
            return sorted(path.name for path in self.root.iterdir() if _NAME.fullmatch(path.name) and _holds(path))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise CorpusError(
                f"{self.root} cannot be read: {error.strerror}.", hint="Check its permissions."
            ) from error

    def info(self, name: str) -> CorpusInfo:
        """Raises CorpusNotFound; a damaged corpus is described as such."""
        folder = self._existing(name)
        size = _bytes_on_disk(folder)
        try:
            with sqlite_errors(folder, name), contextlib.closing(self._store(folder, name)) as store:
                meta = store.meta()
                documents, passages = store.counts()
                if documents and not (folder / "vectors").is_dir():
                    raise damaged(folder, name, "its vectors are missing")
                if (folder / DAMAGE_MARK).exists():
                    raise damaged(folder, name, "a search found it so")
                state = "ready" if documents and meta.get("unfinished", "[]") == "[]" else "incomplete"
                return CorpusInfo(name, documents, passages, meta["embedder"], size, meta["updated"], state)
        except (CorpusDamaged, KeyError):
            return CorpusInfo(name, 0, 0, "", size, "", "damaged")

    def remove(self, name: str) -> None:
        """Raises CorpusNotFound, or CorpusHeld while another process uses it."""
        folder = self._existing(name)
        with CorpusLock(folder, name).writing():
            _clear(folder)
        shutil.rmtree(folder)

    def open(self, name: str, embedder: Embedder, *, cache: Cache | None = None) -> IndexedCorpus:
        """Raises CorpusNotFound, CorpusMismatch (another embedder or schema) or CorpusDamaged."""
        folder = self._existing(name)
        with sqlite_errors(folder, name), contextlib.ExitStack() as stack:
            store = self._store(folder, name)
            stack.callback(store.close)
            meta = store.meta()
            if not meta:
                raise _not_found(name)  # the run that began it was killed at once
            _check_schema(name, folder, meta)
            _check_embedder(name, folder, meta, embedder)
            if store.counts()[0] and not (folder / "vectors").is_dir():
                raise damaged(folder, name, "its vectors are missing")
            corpus = IndexedCorpus(name, folder, store, embedder, cache=cache)
            stack.pop_all()
        return corpus

    @contextlib.contextmanager
    def writer(self, name: str, embedder: Embedder, chunking: Chunking, roots: Sequence[str]) -> Iterator[CorpusWriter]:
        """Hold the corpus for writing; it is made if there is none.

        One that was made otherwise (embedder, chunking, schema) or is damaged is emptied first if `roots` hold
        all of it; else CorpusMismatch says which paths to give.
        """
        folder = self.root / checked_name(name)
        with CorpusLock(folder, name).writing():
            try:
                with sqlite_errors(folder, name), contextlib.closing(self._writable_store(folder)) as store:
                    writer = CorpusWriter(name, folder, store, embedder, chunking, roots)
                    with contextlib.closing(writer):
                        writer.prepare()
                        yield writer
            finally:
                self._discard_if_empty(folder)

    def _discard_if_empty(self, folder: Path) -> None:
        """A corpus into which nothing came is none: the next `ask` must not choose it."""
        with contextlib.suppress(sqlite3.DatabaseError):
            with contextlib.closing(DocumentStore(folder / _DATABASE)) as store:
                empty = not store.counts()[0]
            if empty:
                _clear(folder)

    def _writable_store(self, folder: Path) -> DocumentStore:
        """The database; one that is damaged beyond reading is thrown away with its vectors."""
        try:
            store = DocumentStore(folder / _DATABASE, create=True)
            store.check()
            return store
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
            for leftover in folder.glob(_DATABASE + "*"):
                leftover.unlink()
            shutil.rmtree(folder / "vectors", ignore_errors=True)
            return DocumentStore(folder / _DATABASE, create=True)

    def _store(self, folder: Path, name: str) -> DocumentStore:
        if not (folder / _DATABASE).is_file():
            raise damaged(folder, name, "its documents are missing")
        return DocumentStore(folder / _DATABASE)

    def _existing(self, name: str) -> Path:
        folder = self.root / checked_name(name)
        if not _holds(folder):
            raise _not_found(name, self.names())
        return folder


def _bytes_on_disk(folder: Path) -> int:
    """Blocks in use where the system tells: Edge's files are mostly holes while a corpus is small."""
    stats = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum(stat.st_blocks * 512 if hasattr(stat, "st_blocks") else stat.st_size for stat in stats)


def _clear(folder: Path) -> None:
    """Remove all but the locks, which are held."""
    for path in folder.iterdir():
        if path.is_dir() and path.name != "locks":
            shutil.rmtree(path)
        elif path.is_file():
            path.unlink()


def _not_found(name: str, others: Sequence[str] = ()) -> CorpusNotFound:
    near = difflib.get_close_matches(name, others, n=1)
    hint = f"Did you mean {near[0]!r}? Or make it: " if near else "Make it: "
    return CorpusNotFound(f"There is no corpus {name!r}.", hint=hint + mending_command(name))


def _holds(folder: Path) -> bool:
    """Whether there is a corpus; a folder of locks alone is what a removed one may leave."""
    return (folder / _DATABASE).exists() or (folder / "vectors").exists()


def checked_name(name: str) -> str:
    """Raises UsageError unless the name is a plain lower-case word: it becomes a folder."""
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a corpus.",
            hint="Use lower-case letters, digits, '.', '_' and '-', beginning with a letter or digit.",
        )
    return name


def _check_schema(name: str, folder: Path, meta: dict[str, str]) -> None:
    schema = int(meta.get("schema", "0"))
    if schema != SCHEMA_VERSION:
        age = "a newer" if schema > SCHEMA_VERSION else "an older"
        raise CorpusMismatch(
            f"The corpus {name!r} was indexed by {age} version of iterative-rag.",
            hint=f"Index it again: {mending_command(name, folder)}",
        )


def _check_embedder(name: str, folder: Path, meta: dict[str, str], embedder: Embedder) -> None:
    made_with = (meta.get("embedder", ""), meta.get("dimensions", ""))
    if made_with != (embedder.name, str(embedder.dimensions)):
        raise CorpusMismatch(
            f"The corpus {name!r} was indexed with the embedder {made_with[0]} ({made_with[1]} dimensions), "
            f"not with {embedder.name} ({embedder.dimensions}).",
            hint=f"Ask with --embedder {made_with[0]}, or index it again: {mending_command(name, folder)}",
        )


__all__ = ["Chunking", "Corpora", "CorpusInfo", "CorpusWriter", "IndexedCorpus", "checked_name"]
