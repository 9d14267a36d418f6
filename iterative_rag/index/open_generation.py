"""The generation of a corpus that is being read: pinned, opened by the first search, shared by all who read it."""

from __future__ import annotations

import threading
from contextlib import ExitStack, closing
from pathlib import Path

from iterative_rag.errors import CorpusNotFound
from iterative_rag.index.catalogue import DocumentView, Generation, Points
from iterative_rag.index.database import DocumentStore
from iterative_rag.index.generation_pins import Pin
from iterative_rag.index.sqlite_errors import damaged, rebuild_command, sqlite_errors
from iterative_rag.index.vector_store import Place, VectorStore
from iterative_rag.system.files import CORPUS_DATABASE
from iterative_rag.text.spoken_language import ENGLISH


class OpenGeneration:
    """The newest generation when it is made; at a place without generations it shows every change at once. It owns its
    connection to the documents, and is closed by its last user. Safe to use from several threads."""

    def __init__(self, name: str, folder: Path, store: DocumentStore, place: Place) -> None:
        """Raises CorpusNotFound where nothing is published yet, or CorpusDamaged."""
        self.name, self.folder = name, folder
        self._store, self._place = store, place
        self._held, self._pin = self._pinned()
        self._mutex = threading.Lock()
        self._users = 1
        self._vectors: VectorStore | None = None

    def _pinned(self) -> tuple[Generation, Pin | ExitStack]:
        missing = 0
        while True:
            newest = self._store.newest()
            if newest is None or not self.folder.exists():
                raise nothing_indexed(self.name)
            if newest.number == missing:  # an older one is removed only after a newer one was published
                raise damaged(self.folder, self.name, "its vectors are missing")
            try:
                return newest, self._place.pin(newest.number)
            except FileNotFoundError:
                missing = newest.number

    def newest(self) -> OpenGeneration:
        """This one, given on, as long as no newer one is published; else that, which takes this one's user."""
        with sqlite_errors(self.folder, self.name), ExitStack() as opened:
            if self._place.shared or self._store.number() == self._held.number:
                return self
            store = opened.enter_context(closing(DocumentStore(self.folder / CORPUS_DATABASE)))
            newer = OpenGeneration(self.name, self.folder, store, self._place)
            opened.pop_all()
        self.give_back()
        return newer

    def kept(self) -> OpenGeneration:
        """This one, with one more user."""
        with self._mutex:
            self._users += 1
        return self

    def give_back(self) -> None:
        with self._mutex:
            self._users -= 1
            last = not self._users
        if last:
            with closing(self._store), closing(self._pin):
                if self._vectors is not None:
                    self._vectors.close()

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

    def vectors(self) -> VectorStore:
        """Raises what Place.load does."""
        with self._mutex:
            if self._vectors is None:
                held, owner = self.about, self._store.identity()
                load = self._place.load
                self._vectors = load(held.number, points=held.passages, dimensions=held.dimensions, owner=owner)
            return self._vectors


def nothing_indexed(name: str) -> CorpusNotFound:
    message = f"Nothing of the corpus {name!r} is indexed yet."
    return CorpusNotFound(message, hint=f"Wait until its first documents are in, or index it: {rebuild_command(name)}")
