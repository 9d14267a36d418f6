"""Copies the vectors of a corpus to another place: only missing points; counts and compares at the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from uuid import UUID

from iterative_rag.errors import CorpusDamaged, StoreError, UsageError
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.replacing import CorpusLock
from iterative_rag.index.sqlite_errors import rebuild_command
from iterative_rag.index.vector_store import Place, StoredPoint, VectorStore, point_ids
from iterative_rag.text.plurals import counted

# Points per request.
BATCH = 512
# Points compared number by number at the end, spread over all of them.
COMPARED = 200
_ROUNDING = 1e-5


@dataclass(frozen=True, slots=True)
class PushReport:
    """`points` lie there now: `copied` by this run, the others before; `removed` were those of older versions.

    `compared` of them were read back and found equal.
    """

    place: str
    points: int
    copied: int
    removed: int
    compared: int
    seconds: float


def copy_vectors(
    name: str,
    lock: CorpusLock,
    documents: DocumentStore,
    source: Place,
    target: Place,
    progress: Callable[[int, int], None] | None = None,
) -> PushReport:
    """Bring `target` up to the state of `source` and remember that the corpus can be searched there.

    Raises CorpusMismatch when other vectors lie there, CorpusDamaged when `source` lacks a point, and StoreError.
    """
    if source.name == target.name:
        raise UsageError(f"The vectors of {name!r} lie at {target.name} already.", hint="Name another place.")
    begun = time.monotonic()
    with ExitStack() as stack:
        # Locked as for writing, so that the generation stays the newest.
        stack.enter_context(lock.writing())
        generation = documents.newest()
        if generation is None:
            raise UsageError(f"Nothing of {name!r} is indexed yet.", hint=f"Index it: {rebuild_command(name)}")
        owner, dimensions = documents.identity(), generation.dimensions
        if not target.exists():
            target.create(dimensions, owner)
        there = stack.enter_context(closing(target.work(0, dimensions=dimensions, owner=owner)))
        here = source.load(generation.number, points=generation.passages, dimensions=dimensions, owner=owner)
        stack.enter_context(closing(here))
        wanted = list(point_ids(documents.view(generation.number).all_points()))
        copied = done = 0
        for part in _parts(wanted):
            copied += _copy(part, here, there)
            done += len(part)
            if progress:
                progress(done, len(wanted))
        removed = _remove_others(wanted, there)
        compared = _compare(wanted, here, there, target.name)
        with documents.transaction():
            documents.set_in_step({**documents.in_step(), target.name: target.option})
    return PushReport(target.name, len(wanted), copied, removed, compared, time.monotonic() - begun)


def _parts(ids: Sequence[UUID]) -> Iterator[Sequence[UUID]]:
    return (ids[low : low + BATCH] for low in range(0, len(ids), BATCH))


def _copy(ids: Sequence[UUID], here: VectorStore, there: VectorStore) -> int:
    held = there.held(ids)
    lacking = [point for point in ids if point not in held]
    if lacking:
        there.put(_all_of(lacking, here))
    return len(lacking)


def _all_of(ids: Sequence[UUID], store: VectorStore) -> list[StoredPoint]:
    points = store.read(ids)
    if len(points) < len(ids):
        raise CorpusDamaged(
            f"It lacks {len(ids) - len(points)} of {counted(len(ids), 'passage')} that its documents have"
        )
    return points


def _remove_others(wanted: Sequence[UUID], there: VectorStore) -> int:
    """Remove points of outdated versions. Counting shows that there usually are none."""
    if there.count() == len(wanted):
        return 0
    others = there.ids() - set(wanted)
    there.drop(list(others))
    return len(others)


def _compare(wanted: Sequence[UUID], here: VectorStore, there: VectorStore, name: str) -> int:
    if (count := there.count()) != len(wanted):
        raise StoreError(
            f"{name} holds {count:,} of {counted(len(wanted), 'passage')} after the copy.",
            hint="Run the same command again.",
        )
    some = wanted[:: max(1, len(wanted) // COMPARED)]
    copies = {point.id: point for point in there.read(some)}
    for point in _all_of(some, here):
        if point.id not in copies or not _equal(point, copies[point.id]):
            raise StoreError(
                f"{name} holds another vector for the passage {point.id}.",
                hint="Name another collection, or remove this one on the server.",
            )
    return len(some)


def _equal(original: StoredPoint, other: StoredPoint) -> bool:
    terms, others = (dict(zip(*point.sparse, strict=True)) for point in (original, other))
    if original.passage != other.passage or terms.keys() != others.keys() or len(original.dense) != len(other.dense):
        return False
    pairs = [*zip(original.dense, other.dense, strict=True), *((value, others[term]) for term, value in terms.items())]
    return all(abs(a - b) <= _ROUNDING * max(1.0, abs(a)) for a, b in pairs)
