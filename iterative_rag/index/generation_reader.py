"""The generation of a corpus that is being read: pinned, opened by the first search, shared by all readers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from iterative_rag.errors import CorpusDamaged, CorpusNotFound
from iterative_rag.index.catalogue import DocumentView, Generation, Points
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.sqlite_errors import DAMAGE_MARK, damaged, rebuild_command, sqlite_errors
from iterative_rag.index.vector_store import Pinned, Place, VectorStore
from iterative_rag.text.spoken_language import ENGLISH


class OpenGeneration:
    """An open generation. At a place without generations it shows every change at once."""

    def __init__(
        self, name: str, folder: Path, store: DocumentStore, place: Place, held: Generation, pin: Pinned
    ) -> None:
        self.users = 0
        self._name = name
        self._folder = folder
        self._store = store
        self._place = place
        self._held = held
        self._pin = pin
        self._mutex = threading.Lock()
        self._vectors: VectorStore | None = None

    @property
    def about(self) -> Generation:
        return (self._store.newest() or self._held) if self._place.shared else self._held

    @property
    def documents(self) -> DocumentView:
        return self._store.view(self.about.number)

    @property
    def languages(self) -> dict[str, int]:
        """The number of documents in each language, those that are not clear as English."""
        about = self.about
        english = about.documents - sum(about.languages.values())
        return {**({ENGLISH: english} if english > 0 else {}), **about.languages}

    @property
    def incomplete(self) -> bool:
        """Whether indexing is running or was interrupted."""
        return self._store.meta().get("unfinished", "[]") != "[]" or self._store.unpublished()

    @property
    def strangers(self) -> list[Points]:
        """Points that belong to no document."""
        return self._store.unowned() if self._place.shared else list(self._held.strangers)

    @contextmanager
    def vectors(self) -> Iterator[VectorStore]:
        try:
            with self._mutex:
                store = self._vectors = self._vectors or self._load()
            yield store
        except CorpusDamaged:
            with suppress(OSError):  # without write permission no note can be left; the error is raised anyway
                (self._folder / DAMAGE_MARK).touch()
            raise

    def _load(self) -> VectorStore:
        held = self.about
        return self._place.load(
            held.number, points=held.passages, dimensions=held.dimensions, owner=self._store.identity()
        )

    def close(self) -> None:
        with ExitStack() as stack:
            stack.callback(self._pin.close)
            with self._mutex:
                if self._vectors is not None:
                    stack.callback(self._vectors.close)
                    self._vectors = None


class CorpusReader:
    """Opens the newest generation, and closes each after its last use. Safe to use from several threads."""

    def __init__(self, name: str, folder: Path, store: DocumentStore, place: Place) -> None:
        self.name = name
        self.folder = folder
        self._store = store
        self._place = place
        self._mutex = threading.Lock()
        self._newest: OpenGeneration | None = None
        self._readers = 1

    def take(self) -> OpenGeneration:
        """The newest generation, to be given back. Raises CorpusNotFound where nothing is published yet, or
        CorpusDamaged."""
        with self._mutex, sqlite_errors(self.folder, self.name):
            if self._newest is None or self._newest.about.number != self._store.number():
                opened, former = self._opened(), self._newest
                opened.users = 1
                self._newest = opened
                if former is not None:
                    self._drop(former)
            self._newest.users += 1
            return self._newest

    def keep(self, generation: OpenGeneration) -> OpenGeneration:
        """Hold a generation once more."""
        with self._mutex:
            generation.users += 1
            return generation

    def give_back(self, generation: OpenGeneration) -> None:
        with self._mutex:
            self._drop(generation)

    def share(self) -> None:
        """Count one more holder."""
        with self._mutex:
            self._readers += 1

    def close(self) -> None:
        with self._mutex:
            self._readers -= 1
            if self._readers == 0:
                if self._newest is not None:
                    self._drop(self._newest)
                    self._newest = None
                self._store.close()

    def _opened(self) -> OpenGeneration:
        missing = 0
        while True:
            newest = self._store.newest()
            if newest is None or not self.folder.exists():
                raise nothing_indexed(self.name)
            if newest.number == missing:  # an older one is removed only after a newer one was published
                raise damaged(self.folder, self.name, "its vectors are missing")
            try:
                pin = self._place.pin(newest.number)
            except FileNotFoundError:
                missing = newest.number
            else:
                return OpenGeneration(self.name, self.folder, self._store, self._place, newest, pin)

    @staticmethod
    def _drop(generation: OpenGeneration) -> None:
        generation.users -= 1
        if generation.users == 0:
            generation.close()


def nothing_indexed(name: str) -> CorpusNotFound:
    return CorpusNotFound(
        f"Nothing of the corpus {name!r} is indexed yet.",
        hint=f"Wait until its first documents are in, or index it: {rebuild_command(name)}",
    )
