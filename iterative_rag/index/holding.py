"""An open corpus's hold on its vectors: opened for the first search, let go of when someone else needs them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import UUID

from iterative_rag.errors import CorpusDamaged
from iterative_rag.index.faults import DAMAGE_MARK
from iterative_rag.index.lock import CorpusLock
from iterative_rag.index.store import Found, Place, VectorStore

# Loading takes most of a second at 150,000 passages: an idle shard is kept this long, or until a writer wants it.
IDLE_SECONDS = 10.0
_LOOK_SECONDS = 0.1

Halves = list[tuple[list[Found], list[Found]]]


class SharedHold:
    """Vectors that may be read while they are written: opened once, searched by all threads at once."""

    def __init__(self, load: Callable[[], VectorStore]) -> None:
        self._load = load
        self._mutex = threading.Lock()
        self._store: VectorStore | None = None

    def search(self, queries: Sequence[tuple[str, list[float]]], limit: int, among: AbstractSet[UUID] | None) -> Halves:
        with self._mutex:
            store = self._store = self._store or self._load()
        return store.search(queries, limit, among=among)

    def close(self) -> None:
        with self._mutex:
            if self._store is not None:
                self._store.close()
                self._store = None


class LockedHold:
    """Vectors that one process at a time may write and nobody read meanwhile: lets go of them when they were idle for
    long or a writer waits."""

    def __init__(self, folder: Path, load: Callable[[], VectorStore], lock: CorpusLock) -> None:
        self._folder = folder
        self._load_store = load
        self._lock = lock
        self._mutex = threading.Lock()
        self._held = ExitStack()
        self._store: VectorStore | None = None
        self._last_used = 0.0

    def search(self, queries: Sequence[tuple[str, list[float]]], limit: int, among: AbstractSet[UUID] | None) -> Halves:
        with self._mutex:
            try:
                store = self._store or self._load()
                return store.search(queries, limit, among=among)
            except CorpusDamaged:
                with suppress(OSError):  # whoever reads only cannot leave a note, and the error is raised anyway
                    (self._folder / DAMAGE_MARK).touch()
                raise
            finally:
                self._last_used = time.monotonic()

    def close(self) -> None:
        with self._mutex:
            self._let_go()

    def _load(self) -> VectorStore:
        with ExitStack() as stack:
            stack.enter_context(self._lock.reading())
            with self._lock.alone():
                store = self._load_store()
            stack.callback(self._close_alone, store)
            self._held = stack.pop_all()
        self._store = store
        self._last_used = time.monotonic()
        threading.Thread(target=self._watch, name="index-watch", daemon=True).start()
        return store

    def _close_alone(self, store: VectorStore) -> None:
        with self._lock.alone():
            store.close()

    def _watch(self) -> None:
        while True:
            time.sleep(_LOOK_SECONDS)
            with self._mutex:
                if self._store is None:
                    return
                if time.monotonic() - self._last_used > IDLE_SECONDS or self._lock.wanted():
                    self._let_go()
                    return

    def _let_go(self) -> None:
        if self._store is not None:
            self._store = None
            self._held.close()


def hold(place: Place, folder: Path, lock: CorpusLock, load: Callable[[], VectorStore]) -> SharedHold | LockedHold:
    return SharedHold(load) if place.shared else LockedHold(folder, load, lock)
