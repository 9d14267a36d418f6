"""Writing a corpus: what is committed is whole, what is not is swept away by the next writer.

Per batch: the coming points are announced as unowned (SQLite), written durably (vector store), then the documents
are put with their new version and the announcement goes (one transaction: from here on they are found), and
the points of older versions, unowned by the same transaction, are deleted. Killed anywhere in between, a
corpus shows each document in its old or its new version, and the list of unowned points says what to sweep.
"""

from __future__ import annotations

import json
import shlex
import shutil
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iterative_rag.errors import CorpusDamaged, CorpusMismatch, StoreMissing
from iterative_rag.files import free_bytes
from iterative_rag.index.documents import SCHEMA_VERSION, DocumentStore, Entry, Known, Points
from iterative_rag.index.faults import DAMAGE_MARK, FREE_BYTES, index_disk_full
from iterative_rag.index.store import Place, VectorPoint, VectorStore
from iterative_rag.protocols import Embedder, Vectors


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are cut, in characters."""

    chars: int = 500
    overlap: int = 80


class CorpusWriter:
    """Made by `Corpora.writer`, which holds the lock. Reading back the vectors shows whether they are whole."""

    def __init__(
        self,
        name: str,
        folder: Path,
        store: DocumentStore,
        embedder: Embedder,
        chunking: Chunking,
        roots: Sequence[str],
        place: Place,
    ) -> None:
        self.name = name
        self.chunking = chunking
        self._folder = folder
        self._store = store
        self._embedder = embedder
        self._roots = tuple(roots)
        self._place = place
        self._vectors: VectorStore | None = None

    def prepare(self) -> None:
        """Make the corpus fit what is to be written: as it is, or emptied because it is new or does not fit."""
        reason = self._misfit() or self._damage()
        if reason is not None:
            others = sorted(self._store.roots() - set(self._roots))
            if others:
                raise CorpusMismatch(
                    f"The corpus {self.name!r} must be made anew ({reason}), but it holds more than what was given.",
                    hint="Give all of it: iterative-rag index "
                    + " ".join(map(shlex.quote, [*others, *self._roots]))
                    + f" --corpus {self.name}",
                )
            self._empty()
        self._sweep()

    def known(self, document_id: str) -> Known | None:
        """Where and in which version a document is held; None if it is not."""
        return self._store.known(document_id)

    def ids_under(self, root: str) -> list[str]:
        return self._store.ids_under(root)

    def others(self) -> list[str]:
        """The documents of roots that are not being written."""
        return [one for root in sorted(self._store.roots() - set(self._roots)) for one in self._store.ids_under(root)]

    def counts(self) -> tuple[int, int]:
        """How many documents and passages there are."""
        return self._store.counts()

    def finish(self) -> None:
        """All documents of the roots are in; until then the corpus is marked as incomplete."""
        self._mark_unfinished(self._unfinished() - set(self._roots))

    def _unfinished(self) -> set[str]:
        """The roots whose last run did not come to its end."""
        return set(json.loads(self._store.meta().get("unfinished", "[]")))

    def _mark_unfinished(self, roots: set[str]) -> None:
        self._store.set_meta({"unfinished": json.dumps(sorted(roots))})

    def announce(self, points: Iterable[Points]) -> None:
        """To be called before the first point of a document's new version is written."""
        self._check_disk()
        with self._store.transaction():
            self._store.add_unowned(points)
            self._mark_unfinished(self._unfinished() | set(self._roots))

    def write(self, points: Sequence[VectorPoint], vectors: Vectors) -> None:
        self._check_disk()
        self._opened().write(points, vectors)

    def commit(self, entries: Sequence[Entry]) -> None:
        """Show documents whose points have all been written, and drop what they replace."""
        if not entries:
            return
        with self._store.transaction():
            for entry in entries:
                self._store.put(entry)
            self._touch()
        # Points of documents that are still being written stay announced.
        done = {entry.document.id for entry in entries}
        self._sweep(done)

    def remove(self, ids: Sequence[str]) -> None:
        with self._store.transaction():
            self._store.remove(ids)
            self._touch()
        self._sweep(set(ids))

    def move(self, document_id: str, source: str) -> None:
        self._store.move(document_id, source)

    def close(self) -> None:
        if self._vectors is not None:
            vectors, self._vectors = self._vectors, None
            vectors.close()

    def _sweep(self, only: set[str] | None = None) -> None:
        unowned = [points for points in self._store.unowned() if only is None or points.document_id in only]
        if unowned:
            self._opened().delete(unowned)
            with self._store.transaction():
                self._store.forget_unowned(unowned)

    def _misfit(self) -> str | None:
        """Why the corpus cannot be continued as it is; None if it can."""
        meta = self._store.meta()
        wanted = self._made_with()
        if "schema" not in meta:
            return "it is new"
        for key, what in (("schema", "version"), ("embedder", "embedder"), ("dimensions", "embedder")):
            if meta.get(key) != wanted[key]:
                return f"another {what}: {meta.get(key)} instead of {wanted[key]}"
        for key in ("chunk_chars", "chunk_overlap"):
            if meta.get(key) != wanted[key]:
                return f"another {key}: {meta.get(key)} instead of {wanted[key]}"
        if self._place.name not in self._store.in_step():
            return f"its vectors are kept at {', '.join(self._store.in_step())} and not at {self._place.name}"
        return None

    def _damage(self) -> str | None:
        """Why the vectors cannot be used; None if they can. Leaves them open."""
        if (self._folder / DAMAGE_MARK).exists():
            return "a search found it damaged"
        try:
            self._vectors = self._load(points=self._store.counts()[1])
        except (CorpusDamaged, StoreMissing) as error:
            return str(error).rstrip(".")
        return None

    def _made_with(self) -> dict[str, str]:
        return {
            "schema": str(SCHEMA_VERSION),
            "embedder": self._embedder.name,
            "dimensions": str(self._embedder.dimensions),
            "chunk_chars": str(self.chunking.chars),
            "chunk_overlap": str(self.chunking.overlap),
        }

    def _empty(self) -> None:
        # Kept through all of it: a place that others use too tells by it whose points may be thrown away.
        identity = self._store.identity() or uuid.uuid4().hex
        self._check_disk()  # before anything is thrown away
        with self._store.transaction():
            self._store.clear()
            self._store.set_meta({"identity": identity})
        self.close()
        self._place.create(self._embedder.dimensions, identity)
        if self._place.shared:
            shutil.rmtree(self._folder / "vectors", ignore_errors=True)  # those of the corpus as it was before
        (self._folder / DAMAGE_MARK).unlink(missing_ok=True)
        # Written last: without it a killed run is seen as new and begins again.
        made = {
            "created": f"{_now()}-{uuid.uuid4().hex[:8]}",
            "updated": _now(),
            "revision": "0",
            "places": json.dumps({self._place.name: self._place.option}),
        }
        self._store.set_meta(self._made_with() | made)

    def _touch(self) -> None:
        """Part of every transaction that changes documents: the fingerprint follows."""
        revision = int(self._store.meta().get("revision", "0")) + 1
        self._store.set_meta({"revision": str(revision), "updated": _now()})
        self._store.set_in_step({self._place.name: self._place.option})  # every other is a state behind from now on

    def _load(self, points: int = 0) -> VectorStore:
        return self._place.load(points=points, dimensions=self._embedder.dimensions, owner=self._store.identity())

    def _opened(self) -> VectorStore:
        if self._vectors is None:
            self._vectors = self._load()
        return self._vectors

    def _check_disk(self) -> None:
        if free_bytes(self._folder) < FREE_BYTES:
            raise index_disk_full(self._folder)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
