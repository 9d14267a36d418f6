"""Writes a corpus: what is committed is complete, the rest is swept away by the next writer.

Per batch: the coming points are announced as unowned (SQLite), written durably (vector store), then the documents
are put with their new version and the announcement goes (one transaction), and the points of older versions, unowned
by the same transaction, are deleted. Killed anywhere in between, the next writer finds each document in its old or its
new version; the list of unowned points says what a document that was begun holds already, and what to sweep at last.

Readers see none of it until it is published, as one generation: at the end, and every now and then before it. What they
read meanwhile stays as it is. Where a place has no generations (a server), every batch is published at once.
"""

from __future__ import annotations

import json
import logging
import shlex
import shutil
import time
import uuid
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from iterative_rag.errors import CorpusDamaged, CorpusError, CorpusMismatch, StoreMissing
from iterative_rag.index.catalogue import SCHEMA_VERSION, DocumentEntry, DocumentView, Generation, Points
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.sqlite_errors import DAMAGE_MARK, FREE_BYTES, index_disk_full
from iterative_rag.index.vector_store import VECTORS, Place, VectorPoint, VectorStore, point_id
from iterative_rag.protocols import GIVEN, Embedder, Vectors
from iterative_rag.system.files import free_bytes, json_value
from iterative_rag.types import Document

_log = logging.getLogger(__name__)

# Seconds until what was written is published while indexing goes on: where nothing is published yet, else at least, and
# how many times as long as publishing took.
_AT_ONCE, _PAUSE, _SHARE = 1.0, 10.0, 20.0

_ASKED_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Chunking:
    """How documents are cut, in characters."""

    chars: int = 500
    overlap: int = 80


class CorpusWriter:
    """Made by `Corpora.writer`, which holds the lock. Reading back the vectors shows whether they are intact."""

    def __init__(
        self,
        name: str,
        folder: Path,
        store: DocumentStore,
        embedder: Embedder,
        chunking: Chunking,
        roots: Sequence[str],
        place: Place,
        adding: Collection[str] = (),
        *,
        alone: bool = False,
    ) -> None:
        self.name, self.chunking = name, chunking
        self._folder, self._store, self._place = folder, store, place
        self._embedder, self._roots = embedder, tuple(roots)
        self._adding, self._alone = frozenset(adding), alone
        self._vectors: VectorStore | None = None
        self._begun = time.monotonic()
        self._publish_at = self._begun + _PAUSE
        self._begun_before: frozenset[Points] = frozenset()

    def prepare(self) -> None:
        """Prepare the corpus for writing: keep it if it fits, else empty it."""
        kept = self._place.shared and self._withheld()
        if self._store.unpublished() and not kept and not self._place.begun(self._store.number()):
            self._store.roll_back()  # the points that were not published are lost
        self._store.forget_before(self._place.retire(self._store.number()))
        reason = self._misfit() or self._damage()
        if reason is not None:
            if not self._alone:
                check_all_given(self.name, reason, self._store.roots(), self._roots, self._adding)
            self._empty()
        self._begun_before = frozenset(self._store.unowned())

    @property
    def view(self) -> DocumentView:
        """All that is committed, published or not."""
        return self._store.view()

    def main_language(self) -> str:
        """The language of more than half of the documents; "" where that is English or not clear, or there is none."""
        documents, languages = self.view.counts()[0], self.view.languages()
        return next((code for code, count in languages.items() if 2 * count > documents), "")

    def others(self) -> list[str]:
        """The documents of roots that are not being written."""
        roots = sorted(self._store.roots() - set(self._roots))
        return [document_id for root in roots for document_id in self.view.ids_under(root)]

    def finish(self, *, broken_off: set[str]) -> None:
        """Mark the roots as complete, except those that broke off; the corpus is incomplete as long as any root is.
        What earlier runs began and this one had no use for is removed."""
        self._sweep()
        self._mark_unfinished((self._unfinished() - set(self._roots)) | broken_off)

    def _unfinished(self) -> set[str]:
        """The roots whose last run did not finish."""
        return set(json_value(self._store.meta().get("unfinished", "[]")))

    def _mark_unfinished(self, roots: set[str]) -> None:
        self._store.set_meta({"unfinished": json.dumps(sorted(roots))})

    def announce(self, points: Iterable[Points]) -> None:
        """Call this before the first point of a document's new version is written."""
        self._check_disk()
        with self._store.transaction():
            self._store.add_unowned(points)
            self._mark_unfinished(self._unfinished() | set(self._roots))

    def held(self, document_id: str, version: str, passages: int) -> set[int]:
        """Which passages of a document were written by a run that did not come to commit it."""
        if Points(document_id, version, passages) not in self._begun_before:
            return set()
        ids = {point_id(document_id, version, ordinal): ordinal for ordinal in range(passages)}
        asked = list(ids)
        parts = (asked[low : low + _ASKED_AT_ONCE] for low in range(0, len(asked), _ASKED_AT_ONCE))
        return {ids[point] for part in parts for point in self._opened().held(part)}

    def write(self, points: Sequence[VectorPoint], vectors: Vectors) -> None:
        self._check_disk()
        self._opened().write(points, vectors)

    def commit(self, entries: Sequence[DocumentEntry]) -> None:
        """Commit documents whose points have all been written, and drop the versions they replace."""
        if not entries:
            return
        with self._store.transaction():
            for entry in entries:
                self._store.put(entry)
            self._publish_if_shared()
        # Points of documents that are still being written stay announced.
        done = {entry.document.id for entry in entries}
        self._sweep(done)
        due = self._publish_at if self._store.number() else self._begun + _AT_ONCE
        if not self._place.shared and time.monotonic() >= due:
            self.publish()

    def remove(self, ids: Sequence[str]) -> None:
        with self._store.transaction():
            self._store.remove(ids)
            self._publish_if_shared()
        self._sweep(set(ids))

    def publish(self, *, last: bool = False) -> None:
        """Show readers what was committed."""
        if not self._store.unpublished() or (self._withheld() and not last):
            return
        if self._place.shared:
            with self._store.transaction():
                self._publish_generation()
            shutil.rmtree(self._folder / VECTORS, ignore_errors=True)  # outdated by it
            return
        begun = time.monotonic()
        now = self._store.number()
        self._opened()
        self._vectors = None
        self._place.publish(now, self._embedder.dimensions, last=last)
        with self._store.transaction():
            self._publish_generation()
        self._store.forget_before(self._place.retire(now + 1))
        ended = time.monotonic()
        self._publish_at = ended + max(_PAUSE, _SHARE * (ended - begun))

    def leave(self) -> None:
        """After an error: publish what was committed, if still possible. The next writer continues."""
        try:
            self.publish()
        except CorpusError as error:
            _log.warning("%s", error)

    def _publish_if_shared(self) -> None:
        if self._place.shared and not self._withheld():
            self._publish_generation()
            self._store.forget_before(self._store.number())

    def _publish_generation(self) -> None:
        """The part of the publishing transaction that records the new generation."""
        created, updated, number = self._store.meta()["created"], _now(), self._store.number() + 1
        made = self._embedder.name, self._embedder.dimensions, self.chunking.chars, self.chunking.overlap
        strangers, languages = tuple(self._store.unowned()), self.view.languages()
        self._store.publish(Generation(number, *made, created, updated, *self.view.counts(), strangers, languages))
        place = {"place": self._place.name, "option": self._place.option}  # any other is outdated from now on
        self._store.set_meta({"updated": updated, "withheld": "", **place})

    def redescribe(self, document: Document) -> None:
        """Record where an unchanged document was found, and its metadata."""
        self._store.redescribe(document.id, document.source, document.metadata)

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

    def _withheld(self) -> bool:
        """Whether what is written to this place is published when it is complete: until then the former is searched."""
        return self._store.meta().get("withheld") == self._place.name

    def _misfit(self) -> str | None:
        """Why the corpus cannot be updated as it is; None if it can."""
        meta = self._store.meta()
        wanted = self._made_with()
        if "created" not in meta:
            return "it is new"
        for key, value in wanted.items():
            if meta.get(key) != value:
                what = {"schema": "version", "dimensions": "embedder"}.get(key, key)
                return f"another {what}: {meta.get(key)} instead of {value}"
        if self._place.name != self._store.place()[0] and not self._withheld():
            return f"its vectors are kept at {self._store.place()[0]} and not at {self._place.name}"
        return None

    def _damage(self) -> str | None:
        """Why the vectors cannot be used; None if they can."""
        if (self._folder / DAMAGE_MARK).exists():
            return "a search found it damaged"
        now = self._store.number()
        try:
            if now and not self._place.shared and not self._place.begun(now):
                # There may be nothing to write: check what readers use instead of making a copy.
                self._place.pin(now).close()
                self._place.load(now, points=self.view.counts()[1]).close()
            else:
                self._vectors = self._load(points=self.view.counts()[1])
        except (CorpusDamaged, StoreMissing) as error:
            return str(error).rstrip(".")
        except FileNotFoundError:
            return "its vectors are missing"
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
        """Begin anew. What was published stays, for readers, until what is made now is published."""
        # Kept through all of it: a place that others use too tells by it whose points may be thrown away.
        identity = self._store.identity() or uuid.uuid4().hex
        self._check_disk()  # before anything is discarded
        self._store.set_meta({"identity": identity})
        self.close()
        self._place.create(self._embedder.dimensions, identity, published=self._store.number())
        # What is searched meanwhile is replaced at the end, except where it is emptied: at this server itself.
        published, (place, option) = self._store.newest(), self._store.place()
        withheld = bool(published and published.documents and not (self._place.shared and self._place.name == place))
        if not withheld:
            place, option = self._place.name, self._place.option
        made = {
            "identity": identity,
            "created": f"{_now('milliseconds')}-{uuid.uuid4().hex[:8]}",  # files written before it are not newer
            "updated": _now(),
            "place": place,
            "option": option,
            "withheld": self._place.name if withheld else "",
        }
        with self._store.transaction():
            self._store.clear()
            self._store.set_meta(self._made_with() | made)
        (self._folder / DAMAGE_MARK).unlink(missing_ok=True)

    def _load(self, points: int = 0) -> VectorStore:
        self._check_disk()
        owner, now = self._store.identity(), self._store.number()
        return self._place.work(now, points=points, dimensions=self._embedder.dimensions, owner=owner)

    def _opened(self) -> VectorStore:
        if self._vectors is None:
            self._vectors = self._load()
        return self._vectors

    def _check_disk(self) -> None:
        if free_bytes(self._folder) < FREE_BYTES:
            raise index_disk_full(self._folder)


def check_all_given(
    name: str, reason: str, held: Collection[str], roots: Sequence[str], adding: Collection[str] = ()
) -> None:
    """Raise CorpusMismatch where a corpus that has to be made anew holds more than these roots."""
    others = sorted(set(held) - (set(roots) - set(adding)))
    if not others:
        return
    corpus = shlex.quote(name)
    if GIVEN in (*others, *roots):
        hint = "Give all of its documents with IterativeRAG.index(..., replace=True), or start over: "
        hint += f"iterative-rag corpus remove {corpus}"
    else:
        paths = " ".join(map(shlex.quote, [*others, *roots]))
        hint = f"Give all of it: iterative-rag index {paths} --corpus {corpus}"
    message = f"The corpus {name!r} must be made anew ({reason}), but it holds more than what was given."
    raise CorpusMismatch(message, hint=hint)


def _now(precision: str = "seconds") -> str:
    return datetime.now(UTC).isoformat(timespec=precision)
